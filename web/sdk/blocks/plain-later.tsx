/** Drawings of a few lines each that are loaded later. */
import type { BlockProps } from './block-view.ts';
import { ActionRow } from './parts/action-button.tsx';
import { CodeFrame } from './parts/code-frame.tsx';
import { CopyButton } from './parts/copy-button.tsx';
import { momentWords } from './parts/formats.ts';
import { Icon, StepMark, toneIcon } from './parts/icon.tsx';
import { Picture } from './parts/picture.tsx';
import { filled } from './words.ts';

export function Checklist({ body: { title, items }, around: { words } }: BlockProps<'checklist'>) {
  const done = items.filter((item) => item.done).length;
  return (
    <div class="card">
      <div class="head">
        <span class="title">{title}</span>
        <span class="aside">{filled(words.doneCount, { done, total: items.length })}</span>
      </div>
      <ul class="checks">
        {items.map(({ id, label, done: isDone, detail }) => (
          <li dir="auto" key={id} class={`stop is-${isDone ? 'done' : 'pending'}`}>
            <StepMark state={isDone ? 'done' : 'pending'} />
            <div>
              <span>{label}</span>
              <span class="unseen"> ({isDone ? words.done : words.upcoming})</span>
              {detail ? <p>{detail}</p> : null}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Tags({ body: { label, items } }: BlockProps<'tags'>) {
  return (
    <div class="tags">
      {label ? <span class="label">{label}</span> : null}
      <ul class="pills">
        {items.map(({ id, label: text, tone = 'neutral' }) => (
          <li dir="auto" key={id} class={`tag is-${tone}`}>
            {text}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Disclosure({ body: { summary, md, open = false }, around: { Prose } }: BlockProps<'disclosure'>) {
  return (
    <details class="card disclosure" open={open}>
      <summary class="head">
        <span>{summary}</span>
        <Icon name="down" class="is-turn" />
      </summary>
      <div class="inside">
        <Prose md={md} />
      </div>
    </details>
  );
}

export function Screens({ body: { items }, around: { ask } }: BlockProps<'screens'>) {
  return (
    <ul class="card rows">
      {items.map(({ route, title, description, params = {} }) => (
        <li dir="auto" key={`${route} ${title}`}>
          <button type="button" class="row" onClick={() => ask.openScreen(route, params)}>
            <Icon name="screen" class="is-mark" />
            <span class="grow">
              <b>{title}</b>
              {description ? <small>{description}</small> : null}
            </span>
            <Icon name="next" class="is-way" />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function KeyValue({ body: { title, rows }, around }: BlockProps<'key_value'>) {
  return (
    <div class="card key-value">
      {title ? <div class="title">{title}</div> : null}
      <dl>
        {rows.map(({ label, value, tone, copyable }, at) => (
          <div key={at}>
            <dt>{label}</dt>
            <dd class={tone === undefined ? '' : `is-${tone}`}>
              <span>{value}</span>
              {copyable ? <CopyButton text={value} name={label} around={around} /> : null}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

export function InfoCard({ body: { title, md, tone, image, actions }, around }: BlockProps<'info_card'>) {
  const { Prose } = around;
  return (
    <div class={`card info is-${tone}`}>
      <Picture around={around} image={image} class="is-wide" />
      <div class="advice">
        <Icon name={toneIcon(tone)} class="is-mark" />
        <div class="grow">
          <div class="title">{title}</div>
          <Prose md={md} />
          <ActionRow actions={actions} around={around} />
        </div>
      </div>
    </div>
  );
}

export function Timeline({ body: { title, events }, around: { locale, words } }: BlockProps<'timeline'>) {
  const said = { done: words.done, current: words.current, upcoming: words.upcoming, failed: words.failedStep };
  return (
    <div class="card">
      {title ? <div class="title">{title}</div> : null}
      <ol class="rail">
        {events.map(({ title: name, at, detail, state }, index) => (
          <li dir="auto" key={index} class={`stop is-${state}`} {...(state === 'current' ? { 'aria-current': 'step' as const } : {})}>
            <StepMark state={state} />
            <div>
              <b>{name}</b>
              <span class="unseen"> ({said[state]})</span>
              {at === undefined ? null : <time dateTime={at}>{momentWords(at, locale)}</time>}
              {detail ? <p>{detail}</p> : null}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

export function Code({ body: { language, code, filename }, around }: BlockProps<'code'>) {
  return <CodeFrame language={language} code={code} filename={filename} around={around} />;
}
