/** `key_points`: what to take away, each with what it is taken from. */
import type { BlockProps } from './block-view.ts';
import { Icon, toneIcon } from './parts/icon.tsx';
import { hrefOf, Link } from './parts/link.tsx';

export function KeyPoints({ body: { title, points, links = [] }, around }: BlockProps<'key_points'>) {
  const hrefs = new Map(links.map(({ source, url }) => [source, hrefOf('url', url)]));
  return (
    <div class="card">
      {title ? <div class="title">{title}</div> : null}
      <ul class="points">
        {points.map(({ text, tone = 'neutral', sources = [] }) => (
          <li dir="auto" key={text} class={`point is-${tone}`}>
            {tone === 'neutral' ? <span class="dot" aria-hidden="true" /> : <Icon name={toneIcon(tone)} />}
            <div>
              {text}
              {sources.length === 0 ? null : (
                <ul class="sources" aria-label={around.words.sources}>
                  {sources.map((source) => {
                    const href = hrefs.get(source);
                    return (
                      <li dir="auto" key={source}>
                        {href === undefined ? (
                          source
                        ) : (
                          <Link href={href} around={around} words={source}>
                            {source}
                          </Link>
                        )}
                      </li>
                    );
                  })}
                </ul>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
