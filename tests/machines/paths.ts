/**
 * Every way through the machines, generated from their definitions with `xstate/graph`: for the invariants proven in
 * this folder, and for tests that replay the same ways against a running server.
 */
import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';
import { getShortestPaths, getSimplePaths, type TraversalOptions } from 'xstate/graph';
import { type ChatTurnContext, type ChatTurnEvent, chatTurn, type TurnFailure } from '../../machines/chat-turn.ts';
import { type InvocationContext, type InvocationEvent, invocation, type ResultStatus } from '../../machines/invocation.ts';
import { stepper } from '../../machines/step.ts';
import type { InvocationState } from '../../protocol/runtime/states.ts';
import type { Executor, Risk } from '../../protocol/runtime/stream-events.ts';

type ByType<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: readonly Extract<Event, { readonly type: Type }>[];
};

export const BUSY: TurnFailure = { code: 'model_busy', message: 'Busy.', retryable: true };
export const BROKEN: TurnFailure = { code: 'internal', message: 'Broken.', retryable: false };
const WAITINGS = [
  { reads: 0, confirmations: 0 },
  { reads: 1, confirmations: 0 },
  { reads: 0, confirmations: 1 },
  { reads: 1, confirmations: 1 },
];

/** Every payload of a chat turn's events that a guard tells apart. */
export const CHAT_TURN_EVENTS: ByType<ChatTurnEvent> = {
  'turn.open': [0, 1].flatMap((serverCalls) => WAITINGS.map((waiting) => ({ type: 'turn.open', serverCalls, waiting }) as const)),
  'block.completed': [{ type: 'block.completed', blockId: 'blk_1' }],
  'round.finished': [0, 1].flatMap((serverCalls) => WAITINGS.map((waiting) => ({ type: 'round.finished', serverCalls, waiting }) as const)),
  'round.failed': [BUSY, BROKEN].map((failure) => ({ type: 'round.failed', failure })),
  'calls.settled': [{ type: 'calls.settled' }],
  'turn.stop': [{ type: 'turn.stop' }],
  'turn.interrupted': [BUSY, BROKEN].map((failure) => ({ type: 'turn.interrupted', failure })),
  'turn.retry': [{ type: 'turn.retry' }],
  'turn.resumed': [{ type: 'turn.resumed' }],
};

export const RESULT_STATUSES: readonly ResultStatus[] = ['ok', 'error', 'declined', 'timeout', 'unavailable'];
/** When the time of a call runs out, in every test of this folder. */
export const DUE_AT_MS = 1_000;

/** Every payload of an action call's events that a guard tells apart. */
export const INVOCATION_EVENTS: ByType<InvocationEvent> = {
  dispatch: [{ type: 'dispatch', expiresAtMs: DUE_AT_MS }],
  confirm: [{ type: 'confirm', expiresAtMs: DUE_AT_MS }],
  decline: [{ type: 'decline' }],
  expire: [DUE_AT_MS - 1, DUE_AT_MS, DUE_AT_MS + 1].map((nowMs) => ({ type: 'expire', nowMs })),
  'edit.begin': [{ type: 'edit.begin' }],
  'edit.accept': [{ type: 'edit.accept' }],
  'edit.reject': [{ type: 'edit.reject' }],
  'result.received': RESULT_STATUSES.flatMap((status) =>
    [false, true].flatMap((confirmed) =>
      [false, true].map((recordRequired) => ({ type: 'result.received', status, confirmed, recordRequired }) as const),
    ),
  ),
  'execution.started': [{ type: 'execution.started' }],
  'execution.settled': (['succeeded', 'failed', 'unknown'] as const).map((outcome) => ({ type: 'execution.settled', outcome })),
  'process.lost': [{ type: 'process.lost' }],
};

/** What a call is: who runs it and what it may do. */
export interface Profile {
  readonly risk: Risk;
  readonly executor: Executor;
}

export const PROFILES: readonly Profile[] = (['read', 'write', 'destructive'] as const).flatMap((risk) =>
  (['client', 'server'] as const).map((executor) => ({ risk, executor })),
);

export const CLIENT_READ: Profile = { risk: 'read', executor: 'client' };
export const SERVER_READ: Profile = { risk: 'read', executor: 'server' };
export const CLIENT_WRITES: readonly Profile[] = [
  { risk: 'write', executor: 'client' },
  { risk: 'destructive', executor: 'client' },
];
export const SERVER_WRITES: readonly Profile[] = [
  { risk: 'write', executor: 'server' },
  { risk: 'destructive', executor: 'server' },
];
export const WRITES = [...CLIENT_WRITES, ...SERVER_WRITES];

/** Who can get into a state at all. */
export const CALLERS: Record<InvocationState, readonly Profile[]> = {
  requested: PROFILES,
  dispatched: [CLIENT_READ],
  'pending.clean': WRITES,
  'pending.editing': WRITES,
  'pending.rejected': WRITES,
  confirmed: WRITES,
  executing: [SERVER_READ, ...SERVER_WRITES],
  declined: PROFILES,
  expired: WRITES,
  succeeded: PROFILES,
  failed: PROFILES,
  timed_out: [CLIENT_READ],
  unknown: [SERVER_READ, ...SERVER_WRITES],
};

/** A turn may be tried again without end; the ways through it may not. */
const ATTEMPTS_MAX = 2;
/** Each accepted edit is a new revision; two show what there is to see. */
const REVISIONS_MAX = 2;

type Options<Machine extends AnyStateMachine> = TraversalOptions<SnapshotFrom<Machine>, EventFromLogic<Machine>, InputFrom<Machine>>;

function chatTurnOptions(attemptsMax: number): Options<typeof chatTurn> {
  return {
    events: Object.values(CHAT_TURN_EVENTS).flat(),
    filterEvents: (snapshot, event) => snapshot.can(event) && !(event.type === 'turn.retry' && snapshot.context.attempt >= attemptsMax),
  };
}

function invocationOptions(profile: Profile): Options<typeof invocation> {
  return {
    input: profile,
    events: Object.values(INVOCATION_EVENTS).flat(),
    filterEvents: (snapshot, event) => snapshot.can(event) && !(event.type === 'edit.accept' && snapshot.context.revision >= REVISIONS_MAX),
  };
}

/** Tells the ways into a state apart, so that the shortest paths cross every transition with every payload. */
function perTransition(
  snapshot: { readonly value: unknown; readonly context: unknown },
  event: unknown,
  previous?: { readonly value: unknown },
): string {
  return JSON.stringify([snapshot.value, snapshot.context, event ?? null, previous?.value ?? null]);
}

function eventsOf<Event>(path: { readonly steps: readonly { readonly event: Event }[] }): Event[] {
  return path.steps.map((step) => step.event).filter((event) => (event as { readonly type: string }).type !== 'xstate.init');
}

/** Drops a path that another one starts with. */
function withoutPrefixes<Event>(paths: readonly Event[][]): Event[][] {
  const prefixes = new Set(paths.flatMap((path) => path.slice(0, -1).map((_, length) => JSON.stringify(path.slice(0, length + 1)))));
  const seen = new Set<string>();
  return paths.filter((path) => {
    const key = JSON.stringify(path);
    if (path.length === 0 || prefixes.has(key) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The same way, gone on until the turn has ended as it ordinarily does. */
function untilEnded(path: readonly ChatTurnEvent[]): ChatTurnEvent[] {
  const events = [...path];
  const machine = stepper(chatTurn);
  for (const event of path) machine.send(event);
  while (machine.state === 'answering' || machine.state === 'working') {
    const next: ChatTurnEvent =
      machine.state === 'working'
        ? { type: 'calls.settled' }
        : { type: 'round.finished', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } };
    events.push(next);
    machine.send(next);
  }
  return events;
}

/**
 * Ways through a chat turn that together take every transition of every round and of two attempts, with every payload
 * a guard tells apart. Each starts with `turn.open` and goes on until the turn has ended; no way is the start of another.
 */
export function chatTurnPaths(): ChatTurnEvent[][] {
  const paths = getShortestPaths(chatTurn, { ...chatTurnOptions(ATTEMPTS_MAX), serializeState: perTransition });
  return withoutPrefixes(withoutPrefixes(paths.map(eventsOf)).map(untilEnded));
}

/** Ways through an action call of one profile that together take every transition with every payload. */
export function invocationPaths(profile: Profile): InvocationEvent[][] {
  return withoutPrefixes(getShortestPaths(invocation, { ...invocationOptions(profile), serializeState: perTransition }).map(eventsOf));
}

/** Every way through one attempt of a chat turn that visits nothing twice, for what must hold on all of them. */
export function chatTurnSimplePaths(): ChatTurnEvent[][] {
  return getSimplePaths(chatTurn, chatTurnOptions(1)).map(eventsOf);
}

/** Every way through an action call that visits nothing twice. */
export function invocationSimplePaths(profile: Profile): InvocationEvent[][] {
  return getSimplePaths(invocation, invocationOptions(profile)).map(eventsOf);
}

/** What a turn has in mind at a point of its life; `given` is what the test is about. */
export function chatTurnContext(given: Partial<ChatTurnContext> = {}): ChatTurnContext {
  return { attempt: 1, round: 1, waiting: { reads: 0, confirmations: 0 }, stopped: false, failure: null, ...given };
}

/** What a call has in mind; `expiresAtMs` is null wherever nothing runs out. */
export function invocationContext(profile: Profile, expiresAtMs: number | null): InvocationContext {
  return { ...profile, revision: 1, expiresAtMs };
}
