/** What is wrong, above every page and in full on the first one and on Nodes: each condition in words, with what it is about and what to do. */
import { createStore } from '@xstate/store';
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AboutEntry, ConditionEntry, NodesAnswer } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { Card } from '../parts/card.tsx';
import { momentOf } from '../parts/times.ts';

interface Words {
  readonly title: string;
  /** As docs/operations.md has it. */
  readonly remedy: string;
  /** The page of an app or an organisation that shows more, and its name; absent: Nodes does. */
  readonly section?: string;
  readonly page?: string;
  /** Before the name of a model, which every app asks. */
  readonly whole?: string;
  /** Whom it hits where it names nothing that it is about. */
  readonly hits?: string;
}

const EVERY_WRITE = 'everybody: nothing new is stored';

const WORDS: Readonly<Record<string, Words>> = {
  fenced: { title: 'Another host took this cell over', remedy: 'Stop this service: another host serves its cell.', hits: EVERY_WRITE },
  term_unproved: {
    title: 'Nothing is stored: whether another host took over is not known',
    remedy: 'See to Redis, or to the destination that REPLICA_URL names: one of them is enough.',
    hits: EVERY_WRITE,
  },
  disk_low: {
    title: 'The disk is nearly full',
    remedy: 'Make room: uploads are refused from here on, before databases are.',
    hits: 'uploads in every app',
  },
  disk_full: {
    title: 'The disk is full',
    remedy: 'Make room: reads are served, writes are not. The service goes on within seconds.',
    hits: EVERY_WRITE,
  },
  read_only: {
    title: 'The data directory is read-only',
    remedy: 'Mount the data directory for writing, and see to its owner and mode.',
    hits: EVERY_WRITE,
  },
  disk_failing: { title: 'The disk refuses writes', remedy: 'Look at the log of the system.' },
  organisation_unavailable: {
    title: 'Data of an organisation is not there',
    remedy: 'See “A file is missing or damaged” in docs/backups.md. Others are served.',
  },
  redis_away: { title: 'Redis is away', remedy: 'See to the Redis that REDIS_URL names. Conversations go on; nodes cannot hand over.' },
  model_unusable: {
    title: 'The model cannot be used',
    remedy: 'Mend the key, the name or the address of the model, as it says, and start the service again.',
    section: 'conversations?state=failed',
    page: 'Failed conversations',
    whole: 'every app that asks',
    hits: 'every app',
  },
  model_failing: {
    title: 'The model fails',
    remedy: 'See to the model’s server or account, as it says. It ends with the next answer.',
    section: 'conversations?state=failed',
    page: 'Failed conversations',
    whole: 'every app that asks',
  },
  backend_failing: {
    title: 'An app’s own server fails',
    remedy: 'See to the app’s server, or to its shared key. Try a call under “Actions and screens”.',
    section: 'actions',
    page: 'Actions and screens',
  },
  knowledge_failing: {
    title: 'Knowledge cannot be read',
    remedy: 'See to the links, and read them anew; of an embeddings model, to its server. Until then answers lack what it says.',
    section: 'knowledge',
    page: 'Knowledge',
    whole: 'every app, by the embeddings of',
  },
  mail_failing: {
    title: 'Mails are not taken',
    remedy: 'See to the server that SMTP_URL names. Mails that wait are sent once it takes them.',
    hits: 'members whose credit ends, or whose app went live: they are not told',
  },
  credit_ends: {
    title: 'Usage credit ends',
    remedy: 'Add credit or raise the plan, or new turns are refused.',
    section: 'usage',
    page: 'Usage and credit',
  },
  replica_behind: {
    title: 'The replica is behind',
    remedy: 'See to the destination that REPLICA_URL names. Until then a lost disk loses more.',
    hits: 'nobody yet: what was stored since would be lost with this disk',
  },
  cell_away: { title: 'Another cell is away', remedy: 'Look at that cell. It is over with the next request that can be passed on.' },
};

/** A condition of a newer service is told by its own name. */
export function wordsOf(condition: string): Words {
  return (Object.hasOwn(WORDS, condition) ? WORDS[condition] : undefined) ?? { title: condition.replaceAll('_', ' '), remedy: '' };
}

function addressOf(condition: string, subject: string | undefined): string {
  const { section = '' } = wordsOf(condition);
  if (subject?.startsWith('app_')) return appAddress(subject, section);
  return subject?.startsWith('org_') ? organisationAddress(subject) + (section && `/${section}`) : '/console/nodes';
}

/** A model that cannot be used fails, too: told once, with the apps that it fails. */
function toldOnce(conditions: readonly ConditionEntry[]): readonly ConditionEntry[] {
  const failing = conditions.find(({ condition }) => condition === 'model_failing');
  const unusable = conditions.find(({ condition }) => condition === 'model_unusable');
  if (failing === undefined || unusable?.detail === undefined) return conditions;
  const { detail } = unusable;
  const about = failing.about?.map((each) => ({ ...each, detail }));
  const both = { ...unusable, since: failing.since < unusable.since ? failing.since : unusable.since, ...(about && { about }) };
  return conditions.flatMap((each) => (each === failing ? [] : [each === unusable ? both : each]));
}

/** How long it has been so: `< 1 min`, `4 min`, `7 h`, `3 days`. */
export function heldFor(since: string): string {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 60_000));
  if (minutes < 1) return '< 1 min';
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}

/** Each sentence with all that it is true of. */
function causesOf({ about = [], detail }: ConditionEntry): readonly (readonly [string, readonly AboutEntry[]])[] {
  const causes = new Map<string, AboutEntry[]>(detail === undefined ? [] : [[detail, []]]);
  for (const each of about) causes.set(each.detail, [...(causes.get(each.detail) ?? []), each]);
  return [...causes];
}

interface SubjectProps {
  readonly condition: string;
  readonly about: AboutEntry;
}

function Subject({ condition, about: { id, name, organisation } }: SubjectProps) {
  if (!/^(app|org)_/.test(id)) {
    return (
      <span>
        {wordsOf(condition).whole} <code>{id}</code>
      </span>
    );
  }
  return (
    <span>
      <a href={addressOf(condition, id)} {...(name !== undefined && { title: id })} class={name === undefined ? 'mono' : ''}>
        {name ?? id}
      </a>
      {organisation !== undefined && ` of ${organisation}`}
    </span>
  );
}

export function ConditionList({ conditions }: { readonly conditions: readonly ConditionEntry[] }) {
  if (conditions.length === 0) return null;
  return (
    <Card title="What is wrong">
      <ul class="conditions">
        {toldOnce(conditions).map((each) => (
          <ConditionItem key={each.condition} {...each} />
        ))}
      </ul>
    </Card>
  );
}

function ConditionItem(entry: ConditionEntry) {
  const { condition, since } = entry;
  const { title, remedy, hits, page } = wordsOf(condition);
  const first = entry.about?.find(({ name }) => name !== undefined);
  return (
    <li>
      <p class="condition-head">
        <b title={condition}>{title}</b>{' '}
        <span class="line-note">
          since {momentOf(since)}, {heldFor(since)}
        </span>
      </p>
      <dl>
        {causesOf(entry).map(([detail, about]) => (
          <Fragment key={detail}>
            <dt>Says</dt>
            <dd>{detail}</dd>
            {about.length > 0 && (
              <>
                <dt>Hits</dt>
                <dd class="condition-hits">
                  {about.map((each) => (
                    <Subject key={each.id} condition={condition} about={each} />
                  ))}
                </dd>
              </>
            )}
          </Fragment>
        ))}
        {entry.about === undefined && hits !== undefined && (
          <>
            <dt>Hits</dt>
            <dd>{hits}</dd>
          </>
        )}
        {remedy !== '' && (
          <>
            <dt>Do</dt>
            <dd>
              {remedy}{' '}
              {first !== undefined && page !== undefined && (
                <a href={addressOf(condition, first.id)}>
                  {page} of {first.name}
                </a>
              )}
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}

/** Asked on every page: seldom enough to cost nothing, soon enough for somebody who looks. */
const BAR_POLLED = { againMs: () => 5_000 } as const;
const SHOWN_MAX = 3;

/** How much is wrong, as the bar knows it. */
export const wrong = createStore({
  context: { count: 0 },
  on: { counted: (_, { count }: { readonly count: number }) => ({ count }) },
});

/** Above every page while something is wrong, a line each; the first page has them in full. Stays while it is asked again. */
export function ConditionBar() {
  const { answer } = useAsked<NodesAnswer>('/nodes', BAR_POLLED);
  const conditions = toldOnce(answer?.conditions ?? []);
  useEffect(() => wrong.send({ type: 'counted', count: conditions.length }), [conditions.length]);
  if (conditions.length === 0) return null;
  return (
    <section class="condition-bar" aria-label="What is wrong" role="status">
      {conditions.slice(0, SHOWN_MAX).map((each) => (
        <ConditionLine key={each.condition} {...each} />
      ))}
      {conditions.length > SHOWN_MAX && <a href="/console">{conditions.length - SHOWN_MAX} more</a>}
    </section>
  );
}

function ConditionLine({ condition, since, about = [], detail }: ConditionEntry) {
  const { title, page = 'Nodes' } = wordsOf(condition);
  // An app says more than a model's name, which is about all of them.
  const first = about.find(({ name }) => name !== undefined) ?? about[0];
  const more = new Set(about.map(({ id }) => id)).size - 1;
  return (
    <p>
      <b>{title}</b>
      {first !== undefined && (
        <span class="condition-about">
          {first.name ?? first.id}
          {more > 0 && ` and ${more} more`}
        </span>
      )}
      <span class="line-note">since {momentOf(since)}</span>
      <span class="condition-detail" title={detail ?? first?.detail}>
        {detail ?? first?.detail}
      </span>
      <a href="/console">What to do</a>
      <a href={addressOf(condition, first?.id)}>{first === undefined ? 'Nodes' : page}</a>
    </p>
  );
}
