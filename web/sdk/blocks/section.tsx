/** `section`: a titled part of a longer answer; one that says `collapsed` opens and closes. */
import type { BlockProps } from './block-view.ts';
import { Icon, iconOf } from './parts/icon.tsx';

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
