/** Numbers of apps at a glance: lines of some days, shares, what waits for a person, and what happened last. */
import type { ComponentChildren } from 'preact';
import type { AppEvent, AppGlance, Counts } from '../../../protocol/console/glance-answers.ts';
import { appAddress } from '../app/app.ts';
import { Card } from '../parts/card.tsx';
import { momentOf } from '../parts/times.ts';

/** Asked again while somebody looks: often enough to see it move. */
export const GLANCED = { againMs: () => 5_000 } as const;

export const NONE = <span class="none">–</span>;

const SPARK = { width: 72, height: 20, gap: 2 } as const;

interface SparkProps {
  readonly numbers: readonly number[];
  readonly label: string;
  readonly look?: string;
  /** Room for so many, where more are to come. */
  readonly room?: number;
}

/** One bar for each number; what is none is a line on the floor. */
export function Spark({ numbers, label, look = '', room = numbers.length }: SparkProps) {
  const most = Math.max(...numbers) || 1;
  const step = SPARK.width / Math.max(1, room);
  const gap = Math.min(SPARK.gap, step / 4);
  return (
    <svg class={`spark ${look}`} viewBox={`0 0 ${SPARK.width} ${SPARK.height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {numbers.map((number, at) => {
        const height = number === 0 ? 1 : Math.max(2, (number / most) * SPARK.height);
        const key = `${at}`;
        return (
          <rect
            key={key}
            class={number === 0 ? 'is-none' : ''}
            x={at * step}
            y={SPARK.height - height}
            width={step - gap}
            height={height}
          />
        );
      })}
    </svg>
  );
}

export function msWords(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function percentOf({ ended, failed }: Pick<Counts, 'ended' | 'failed'>): string {
  const share = (failed / ended) * 100;
  return share > 0 && share < 1 ? '< 1 %' : `${Math.round(share)} %`;
}

/** Red only where something failed. */
export function FailedShare(counts: Pick<Counts, 'ended' | 'failed'>) {
  if (counts.ended === 0) return NONE;
  return (
    <span class={counts.failed > 0 ? 'is-failing' : ''} title={`${counts.failed} of ${counts.ended} answers failed`}>
      {percentOf(counts)}
    </span>
  );
}

export function FirstWord({ first_word_ms: ms }: Pick<Counts, 'first_word_ms'>) {
  return ms === null ? NONE : <span>{msWords(ms)}</span>;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export type NumberCell = readonly [title: string, value: ComponentChildren, line?: ComponentChildren];

export function NumberList({ cells }: { readonly cells: readonly NumberCell[] }) {
  return (
    <dl class="numbers">
      {cells.map(([title, value, line]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <b>{value}</b>
            {typeof line === 'string' ? <small>{line}</small> : line}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface Waiting {
  readonly text: string;
  readonly section: string;
}

type Awaited = Pick<AppGlance, 'waits' | 'blocked'>;

export function waitingOf({ waits: { proposals, keys, sources, setup, todos }, blocked }: Awaited): readonly Waiting[] {
  return [
    ...(blocked ? [{ text: 'no domain is allowed', section: 'settings' }] : []),
    ...(proposals > 0 ? [{ text: counted(proposals, 'proposal', 'proposals'), section: 'proposals' }] : []),
    ...(keys > 0 ? [{ text: `${counted(keys, 'action', 'actions')} without a key`, section: 'actions' }] : []),
    ...(sources > 0 ? [{ text: `${counted(sources, 'source', 'sources')} unread`, section: 'knowledge' }] : []),
    ...(todos > 0 ? [{ text: counted(todos, 'to-do', 'to-dos'), section: 'setup' }] : []),
    ...(setup === 'open' ? [{ text: 'setup is open', section: 'setup' }] : []),
    ...(setup === 'ended' ? [{ text: 'setup has ended', section: 'setup' }] : []),
  ];
}

/** Nothing where nothing waits. */
export function WaitLinks({ app, of }: { readonly app: string; readonly of: Awaited }) {
  return (
    <span class="waits">
      {waitingOf(of).map(({ text, section }) => (
        <a key={text} class="chip is-wait" href={appAddress(app, section)}>
          {text}
        </a>
      ))}
    </span>
  );
}

const EVENTS: Readonly<Record<AppEvent['kind'], { readonly words: string; readonly section: string }>> = {
  live: { words: 'Went live', section: '' },
  published: { words: 'Published version', section: 'appearance' },
  session_opened: { words: 'An agent was invited to', section: 'setup' },
  session_ended: { words: 'The agent’s session ended:', section: 'setup' },
  proposed: { words: 'Proposed:', section: 'proposals' },
  decided: { words: 'Decided,', section: 'proposals' },
  smoke_passed: { words: 'Smoke test passed', section: 'go-live' },
  smoke_failed: { words: 'Smoke test failed', section: 'go-live' },
};

/** What an agent is invited to. */
const SESSIONS: Readonly<Record<string, string>> = { setup: 'set the app up', sync: 'bring it up to date' };

interface EventsProps {
  readonly events: readonly AppEvent[];
  /** Names of apps by id, where there are several. */
  readonly names?: ReadonlyMap<string, string>;
}

export function EventsCard({ events, names }: EventsProps) {
  if (events.length === 0) return null;
  return (
    <Card title="Newest events">
      <ul class="lines events">
        {events.map(({ app_id: app, at, kind, detail }) => (
          <li key={`${app} ${at} ${kind} ${detail}`} class="line">
            <time class="line-note" dateTime={at}>
              {momentOf(at)}
            </time>
            <a class="line-text" href={appAddress(app, EVENTS[kind].section)}>
              {names !== undefined && <b>{names.get(app)} </b>}
              {EVENTS[kind].words} {SESSIONS[detail] ?? detail.replaceAll('_', ' ')}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
