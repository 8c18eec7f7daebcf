/** Drawings of a few lines each: words, which are there from the beginning, a titled part of a longer answer (one that says `collapsed` opens and closes), buttons. */
import type { BlockProps } from './block-view.ts';
import { ActionButton } from './parts/action-button.tsx';
import { Icon, iconOf } from './parts/icon.tsx';

export function Actions({ body: { buttons, layout = 'row' }, around }: BlockProps<'actions'>) {
  return (
    <div class={`buttons is-${layout}`}>
      {buttons.map((action) => (
        <ActionButton key={`${action.kind} ${action.target} ${action.label}`} action={action} around={around} />
      ))}
    </div>
  );
}

export function Text({ body: { md }, around: { Prose } }: BlockProps<'text'>) {
  return <Prose md={md} />;
}

export function Section({ body: { title, md, icon, collapsed }, around: { Prose } }: BlockProps<'section'>) {
  const name = icon === undefined ? undefined : iconOf(icon);
  const head = (
    <>
      {name === undefined ? null : <Icon name={name} class="is-mark" />}
      <span class="title">{title}</span>
    </>
  );
  if (collapsed === undefined) {
    return (
      <section class="section">
        <div class="head">{head}</div>
        <Prose md={md} />
      </section>
    );
  }
  return (
    <details class="section" open={!collapsed}>
      <summary class="head">
        {head}
        <Icon name="down" class="is-turn" />
      </summary>
      <Prose md={md} />
    </details>
  );
}
