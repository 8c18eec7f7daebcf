/** The trace of a turn with its calls, or of another instance: replayed, and followed while it goes on; and that of an organisation's last move. */

import { useRoute } from 'preact-iso';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { CopiedId, Version } from '../parts/copy-button.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Page, type PageProps } from '../shell/page.tsx';
import { NAMES } from './find.ts';
import { useLiveTraces } from './live-hook.ts';
import { TraceView } from './trace-view.tsx';
import { type Trace, type TracesAnswer, tracesOf } from './traces.ts';

const CRUMBS = [{ label: 'Traces', href: '/console/traces' }];
const MOVE_CRUMBS = [{ label: 'Nodes', href: '/console/nodes' }];

function queryOf(query: Readonly<Record<string, string>>): string {
  const named = ['turn_id', 'request_id', 'conversation_id', 'machine', 'instance'].flatMap((name) =>
    query[name] === undefined ? [] : [[name, query[name]]],
  );
  return new URLSearchParams(named as [string, string][]).toString();
}

export function TracePage() {
  const { params, query } = useRoute();
  const { traces, words, error, isLive, isOver, reload } = useLiveTraces(params.app ?? '', queryOf(query));
  const machine = traces?.[0]?.machine ?? '';
  const what = query.conversation_id !== undefined ? 'Conversation, step by step' : `${NAMES[machine] ?? 'Trace'}, step by step`;
  return (
    <Traced
      title={words === '' ? what : `“${words}”`}
      {...(words === '' ? {} : { what })}
      crumbs={CRUMBS}
      traces={traces}
      following={isOver && query.conversation_id === undefined ? 'over' : isLive ? 'following' : 'not_following'}
    >
      <Problem error={error} retry={reload} />
    </Traced>
  );
}

/** The last move of an organisation away from the cell that answers, read again while it goes on. */
export function MoveTracePage() {
  const { params } = useRoute();
  const { answer, error, reload } = useAsked<TracesAnswer>(`/orgs/${encodeURIComponent(params.org ?? '')}/move/trace`, POLLED);
  return (
    <Traced title="Move, step by step" crumbs={MOVE_CRUMBS} traces={answer && tracesOf(answer)}>
      <Problem error={error} retry={reload} />
    </Traced>
  );
}

/** `over`: nothing more will come of it. */
type Following = 'following' | 'not_following' | 'over';

interface TracedProps extends Pick<PageProps, 'title' | 'crumbs' | 'children'> {
  readonly traces: readonly Trace[] | undefined;
  /** Absent: of a move, which is followed by no stream. */
  readonly following?: Following;
  /** Of what it is, where the title does not say so. */
  readonly what?: string;
}

function Traced({ traces = [], following, what, children, ...frame }: TracedProps) {
  const [first] = traces;
  return (
    <Page
      fills
      {...frame}
      facts={
        first && <Facts trace={traces.findLast(({ machine }) => machine === first.machine) ?? first} following={following} what={what} />
      }
    >
      {children}
      {traces.length > 0 && <TraceView traces={traces} />}
    </Page>
  );
}

interface FactsProps {
  readonly trace: Trace;
  readonly following: Following | undefined;
  readonly what: string | undefined;
}

function Facts({ trace, following, what }: FactsProps) {
  const state = trace.steps.at(-1)?.to ?? '';
  const named = following === undefined ? { what: 'Move', id: trace.instance } : { what: 'Request', id: trace.requestId };
  return (
    <>
      {what !== undefined && <span>{what}</span>}
      {!state.startsWith('{') && <StateChip state={state} />}
      {following !== undefined && <StateChip state={following} />}
      {named.id !== null && (
        <span>
          {named.what} <CopiedId id={named.id} />
        </span>
      )}
      <span>
        Version <Version version={trace.version} />
      </span>
    </>
  );
}
