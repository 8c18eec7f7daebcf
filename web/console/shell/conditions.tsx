/** What is wrong, above every page and in full on Nodes: each condition in words, with what it is about and what to do. */
import type { ConditionEntry, NodesAnswer } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { Card } from '../parts/card.tsx';
import { momentOf } from '../parts/times.ts';

interface Words {
  readonly title: string;
  /** As docs/operations.md has it. */
  readonly remedy: string;
  /** The page of an app that shows more; absent: Nodes does. */
  readonly section?: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  fenced: { title: 'Another host took this cell over', remedy: 'Stop this service: another host serves its cell.' },
  term_unproved: {
    title: 'Nothing is stored: whether another host took over is not known',
    remedy: 'See to Redis, or to the destination that REPLICA_URL names: one of them is enough.',
  },
  disk_low: { title: 'The disk is nearly full', remedy: 'Make room: uploads are refused from here on, before databases are.' },
  disk_full: { title: 'The disk is full', remedy: 'Make room: reads are served, writes are not. The service goes on within seconds.' },
  read_only: { title: 'The data directory is read-only', remedy: 'Mount the data directory for writing, and see to its owner and mode.' },
  disk_failing: { title: 'The disk refuses writes', remedy: 'Look at the log of the system.' },
  organisation_unavailable: {
    title: 'Data of an organisation is not there',
    remedy: 'See “A file is missing or damaged” in docs/backups.md. Others are served.',
  },
  redis_away: { title: 'Redis is away', remedy: 'See to the Redis that REDIS_URL names. Conversations go on; nodes cannot hand over.' },
  model_unusable: { title: 'The model cannot be used', remedy: 'Do what it says: the key, the name or the address of the model.' },
  model_failing: {
    title: 'The model fails',
    remedy: 'See to the model’s server or account: its own words are above. It ends with the next answer.',
    section: 'conversations?state=failed',
  },
  backend_failing: {
    title: 'An app’s own server fails',
    remedy: 'See to the app’s server, or to its shared key under “Actions and screens”.',
    section: 'actions',
  },
  knowledge_failing: {
    title: 'Knowledge cannot be read',
    remedy: 'See to the links under “Knowledge”, or to the embeddings server.',
    section: 'knowledge',
  },
  mail_failing: { title: 'Mails are not taken', remedy: 'See to the server that SMTP_URL names.' },
  credit_ends: { title: 'Usage credit ends', remedy: 'Add credit or raise the plan, or new conversations stop.' },
  replica_behind: {
    title: 'The replica is behind',
    remedy: 'See to the destination that REPLICA_URL names. Until then a lost disk loses more.',
  },
  cell_away: { title: 'Another cell is away', remedy: 'Look at that cell. It is over with the next request that can be passed on.' },
};

/** A condition of a newer service is told by its own name. */
function wordsOf(condition: string): Words {
  return (Object.hasOwn(WORDS, condition) ? WORDS[condition] : undefined) ?? { title: condition.replaceAll('_', ' '), remedy: '' };
}

function addressOf(condition: string, subject: string | undefined): string {
  if (subject?.startsWith('app_')) return appAddress(subject, wordsOf(condition).section ?? '');
  return subject?.startsWith('org_') ? organisationAddress(subject) : '/console/nodes';
}

export function ConditionList({ conditions }: { readonly conditions: readonly ConditionEntry[] }) {
  if (conditions.length === 0) return null;
  return (
    <Card title="What is wrong">
      <ul class="conditions">
        {conditions.map(({ condition, since, count, about = [], detail }) => (
          <li key={condition}>
            <p>
              <b>{wordsOf(condition).title}</b> <span class="chip is-bad">{condition}</span> {count !== undefined && <b>{count} × </b>}
              <span class="hint">since {momentOf(since)}</span>
            </p>
            {detail !== undefined && <p>{detail}</p>}
            {about.map((each) => (
              <p key={each.id}>
                <a class="mono" href={addressOf(condition, each.id)}>
                  {each.id}
                </a>{' '}
                {each.detail}
              </p>
            ))}
            <p class="hint">{wordsOf(condition).remedy}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Asked on every page: seldom enough to cost nothing, soon enough for somebody who looks. */
const BAR_POLLED = { againMs: () => 5_000 } as const;
const SHOWN_MAX = 3;

/** Above every page while something is wrong. Stays while it is asked again. */
export function ConditionBar() {
  const { answer } = useAsked<NodesAnswer>('/nodes', BAR_POLLED);
  const conditions = answer?.conditions ?? [];
  if (conditions.length === 0) return null;
  return (
    <section class="condition-bar" aria-label="What is wrong" role="status">
      {conditions.slice(0, SHOWN_MAX).map((each) => (
        <ConditionLine key={each.condition} {...each} />
      ))}
      {conditions.length > SHOWN_MAX && <a href="/console/nodes">{conditions.length - SHOWN_MAX} more</a>}
    </section>
  );
}

function ConditionLine({ condition, since, count, about = [], detail }: ConditionEntry) {
  // An app says more than a model's name, which is about all of them.
  const first = about.find(({ id }) => id.startsWith('app_')) ?? about[0];
  return (
    <p>
      <b>{wordsOf(condition).title}</b>
      {count !== undefined && count > 1 && ` (${count})`} <span class="line-note">since {momentOf(since)}</span>{' '}
      <span class="condition-detail">{detail ?? first?.detail}</span> <a href={addressOf(condition, first?.id)}>Look</a>
    </p>
  );
}
