/** `checklist`: things done and to do. */
import type { BlockProps } from './block-view.ts';
import { StepMark } from './parts/icon.tsx';
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
          <li key={id} class={`stop is-${isDone ? 'done' : 'pending'}`}>
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
