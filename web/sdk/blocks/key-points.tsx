/** `key_points`: what to take away, each with what it is taken from. */
import type { BlockProps } from './block-view.ts';
import { Icon } from './parts/icon.tsx';
import { toneIcon } from './parts/tone.ts';

export function KeyPoints({ body: { title, points }, around: { words } }: BlockProps<'key_points'>) {
  return (
    <div class="card">
      {title ? <div class="title">{title}</div> : null}
      <ul class="points">
        {points.map(({ text, tone = 'neutral', sources = [] }) => (
          <li key={text} class={`point is-${tone}`}>
            {tone === 'neutral' ? <span class="dot" aria-hidden="true" /> : <Icon name={toneIcon(tone)} />}
            <div>
              {text}
              {sources.length === 0 ? null : (
                <ul class="sources" aria-label={words.sources}>
                  {sources.map((source) => (
                    <li key={source}>{source}</li>
                  ))}
                </ul>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
