/** `timeline`: events in order, with where one stands. */
import type { BlockProps } from './block-view.ts';
import { momentWords } from './parts/formats.ts';
import { StepMark } from './parts/icon.tsx';

export function Timeline({ body: { title, events }, around: { locale, words } }: BlockProps<'timeline'>) {
  const said = { done: words.done, current: words.current, upcoming: words.upcoming, failed: words.failedStep };
  return (
    <div class="card">
      {title ? <div class="title">{title}</div> : null}
      <ol class="rail">
        {events.map(({ title: name, at, detail, state }, index) => (
          <li key={index} class={`stop is-${state}`} {...(state === 'current' ? { 'aria-current': 'step' as const } : {})}>
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
