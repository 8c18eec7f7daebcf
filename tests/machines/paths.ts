/**
 * Every way through the machines, generated from their definitions with `xstate/graph`: for the invariants proven in
 * this folder, and for tests that replay the same ways against a running server.
 */
import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';
import { getShortestPaths, getSimplePaths, type TraversalOptions } from 'xstate/graph';
import { type ChatTurnContext, type ChatTurnEvent, chatTurn } from '../../machines/chat-turn.ts';
import { type InvocationContext, type InvocationEvent, invocation } from '../../machines/invocation.ts';
import { CHAT_TURN_EVENTS, INVOCATION_EVENTS, PROFILES, type Profile } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import type { InvocationState } from '../../protocol/runtime/states.ts';

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
  unknown: [SERVER_READ, ...WRITES],
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
