/** Console: the kept steps of machines, by instance, and how often each of their cells was hit (TRACE-9, TRACE-10). */

import { coverageOf } from '../../actors/traces/coverage.ts';
import {
  type InstanceTrace,
  readConversationTraces,
  readInstanceTrace,
  readTurnTraces,
  traceJsonOf,
} from '../../actors/traces/instances.ts';
import { liveSource } from '../../actors/traces/live.ts';
import { unpackSteps } from '../../machines/trace.ts';
import type { NewestTrace } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { conversationTitle } from '../../protocol/runtime/conversations.ts';
import { spentOnTurn } from '../../storage/billing/usage-ledger.ts';
import { readBlocks } from '../../storage/conversations/blocks.ts';
import { readTurn } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { APP_MACHINES, type AppMachine, readNewestTraces, readTurnOfCall, readTurnOfRequest } from '../../storage/traces/traces.ts';
import type { Route } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';
import { failureToWire, spentToWire, wordsOf } from './conversations.ts';

/** A request id is looked for in the newest turns of the organisation: it comes from a log line, and logs are read while they are new. */
const REQUESTS_SEARCHED = 20_000;
const HOUR_MS = 3_600_000;
const HOURS_DEFAULT = 24;
/** Longer than any trace is kept. */
const HOURS_MAX = 24 * 999;
const MACHINES: ReadonlySet<string> = new Set(APP_MACHINES);

const WHICH = 'Say which trace: turn_id, request_id, conversation_id, or machine and instance.';

/** Turns of a conversation that are read, the newest: as many as one picture can tell apart. */
const CONVERSATION_TURNS_MAX = 10;

/** Number of the turn that the query names; undefined when it names none, null when there is no such turn. */
function turnOf(db: Connection, appId: string, query: URLSearchParams): number | null | undefined {
  const [turnId, requestId] = [query.get('turn_id'), query.get('request_id')];
  if (query.get('machine') === 'invocation') return readTurnOfCall(db, appId, query.get('instance') ?? '') ?? null;
  if (turnId !== null) return readTurn(db, appId, turnId)?.turn ?? null;
  return requestId === null ? undefined : (readTurnOfRequest(db, appId, requestId, REQUESTS_SEARCHED)?.turn ?? null);
}

export function findTraces(db: Connection, appId: string, query: URLSearchParams): readonly InstanceTrace[] {
  const turn = turnOf(db, appId, query);
  if (turn !== undefined) return turn === null ? [] : readTurnTraces(db, turn);
  const conversation = query.get('conversation_id');
  if (conversation !== null) return readConversationTraces(db, appId, conversation, CONVERSATION_TURNS_MAX);
  const [machine, instance] = [query.get('machine') ?? '', query.get('instance') ?? ''];
  if (!MACHINES.has(machine) || instance === '') throw new Refusal('invalid_request', WHICH);
  const trace = readInstanceTrace(db, appId, machine as AppMachine, instance);
  return trace === undefined ? [] : [trace];
}

/** @throws Refusal 400 invalid_request when the query names no trace, 404 not_found when nothing of it is kept. */
export function requireTraces(db: Connection, appId: string, query: URLSearchParams): readonly InstanceTrace[] {
  const traces = findTraces(db, appId, query);
  if (traces.length > 0) return traces;
  throw new Refusal('not_found', 'Nothing is kept of this. Traces are deleted when they are old: see TRACE_DAYS.');
}

/** A trace as the interface answers it. `db`: the file that has its definition. */
export function traceToWire(db: Connection, trace: InstanceTrace) {
  return {
    request_id: trace.requestId,
    mixed_versions: trace.isMixed,
    /** One for each step; '' where it is not known. */
    nodes: trace.steps.map(({ node }) => node),
    trace: traceJsonOf(db, trace),
  };
}

/** What the person said in the first of these turns that says anything; '' where that is not kept, or they are of no turn. */
function wordsOfTurns(db: Connection, traces: readonly InstanceTrace[]): string {
  const questions = traces.filter(({ machine }) => machine === 'chat-turn').map(({ instance }) => Number(instance) * 2);
  const blocks = readBlocks(db, questions);
  return conversationTitle(questions.map((question) => wordsOf(blocks.get(question) ?? [])).find((words) => words !== null) ?? '');
}

const readTracesRoute = appRead('/traces', ({ app, db }, query) => {
  const traces = requireTraces(db, app.id, query);
  return { words: wordsOfTurns(db, traces), traces: traces.map((trace) => traceToWire(db, trace)) };
});

/** What the newest instances are looked for in: some milliseconds. */
const NEWEST_SEARCHED = 2_000;
const NEWEST_MAX = 50;

/** The name of a state; of a machine with regions there is none: each has its own. */
const plainState = (state: string | undefined) => (state === undefined || state.startsWith('{') ? null : state);

const readNewestTracesRoute = appRead<{ readonly newest: readonly NewestTrace[] }>('/traces/newest', ({ app, db }) => ({
  newest: readNewestTraces(db, app.id, NEWEST_SEARCHED, NEWEST_MAX).map(({ machine, instance, steps, state, atMs, ...turn }) => ({
    machine,
    instance,
    state: steps === null ? state : plainState(unpackSteps(steps).steps.at(-1)?.to),
    at_ms: atMs,
    took_ms: turn.endedAtMs === null ? null : turn.endedAtMs - atMs,
    words: conversationTitle(turn.words ?? ''),
    cost_usd: turn.turn === null ? null : (spentToWire(spentOnTurn(db, turn.turn))?.cost_usd ?? null),
    failure: failureToWire(turn.failure),
  })),
}));

/** Whatever is kept of an instance, then each step as it is committed, on whichever node. */
const traceStreamRoute = appRoute('GET', '/traces/stream', undefined, ({ app, db }, { query }) => {
  requireTraces(db, app.id, query);
  const source = liveSource(() => findTraces(db, app.id, query));
  return { kind: 'stream', source: Promise.resolve({ source, fromSeq: 1 }) };
});

function hoursOf(query: URLSearchParams): number {
  const given = query.get('hours') ?? String(HOURS_DEFAULT);
  const hours = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  if (hours < 1 || hours > HOURS_MAX) throw new Refusal('invalid_request', `hours must be a whole number from 1 to ${HOURS_MAX}.`);
  return hours;
}

const readCoverageRoute = appRead('/traces/coverage', ({ app, db }, query, { nowMs }) =>
  coverageOf(db, app.id, nowMs() - hoursOf(query) * HOUR_MS),
);

export const traceRoutes: readonly Route[] = [readTracesRoute, traceStreamRoute, readCoverageRoute, readNewestTracesRoute];
