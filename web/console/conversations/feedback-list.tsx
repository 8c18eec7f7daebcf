/** What people thought of answers, the newest first, each with the way to what was said. */

import type { Opinion, Opinions } from '../../../protocol/console/answers.ts';
import { usePages } from '../api/pages-hook.ts';
import { appAddress, appPath } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { More } from '../parts/form.tsx';
import { momentOf } from '../parts/times.ts';

function Mark({ opinion }: { readonly opinion: Opinion }) {
  if (opinion.kind === 'rating') return <span class="chip is-accent">rated {opinion.value}</span>;
  return opinion.rating === 1 ? <span class="chip is-ok">helpful</span> : <span class="chip is-bad">not helpful</span>;
}

export function FeedbackList({ app }: { readonly app: string }) {
  const { pages, next, error, isReading, reload, more } = usePages<Opinions>(`${appPath(app)}/feedback?limit=50`);
  const opinions = pages.flatMap((page) => page.feedback);
  return (
    <Card title="What people thought">
      <Problem error={error} retry={reload} />
      {pages.length > 0 && opinions.length === 0 && (
        <p class="card-empty">
          Nothing yet. Thumbs under answers are switched on in <a href={appAddress(app, 'appearance')}>Appearance</a>.
        </p>
      )}
      <ul class="lines">
        {opinions.map((opinion) => (
          <li key={`${opinion.message_id} ${opinion.updated_at} ${opinion.kind}`} class="line">
            <Mark opinion={opinion} />
            <span class="line-text">{opinion.reason ?? opinion.comment ?? <span class="line-note">without a word</span>}</span>
            <small>{opinion.channel === 'live' ? 'live' : 'test'}</small>
            <small>{momentOf(opinion.updated_at)}</small>
            <a
              href={`${appAddress(app, 'conversations')}/${encodeURIComponent(opinion.conversation_id)}?of=${encodeURIComponent(opinion.message_id)}`}
            >
              What was said
            </a>
          </li>
        ))}
      </ul>
      <More next={next} isReading={isReading} more={more} />
    </Card>
  );
}
