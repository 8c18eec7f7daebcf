import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type AgentIdentity,
  type SetupSessionContext,
  type SetupSessionEffect,
  type SetupSessionEvent,
  type SetupSessionOutcome,
  type SetupSessionState,
  setupSession,
} from '../../machines/setup-session.ts';
import { AGENTS, CLAUDE, DUE_AT_MS, OTHER_AGENTS, SESSION_EVENTS } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import type { SessionKind } from '../../protocol/console/sessions.ts';
import { SESSION_KINDS, sessionContext, sessionSimplePaths } from './setup-paths.ts';

type EventType = SetupSessionEvent['type'];

/** One branch of a cell: whose session, what comes in, where it leads and what is to be done. */
interface Branch {
  /** Both kinds of session when absent. */
  readonly as?: SessionKind;
  readonly on: readonly SetupSessionEvent[];
  readonly to: SetupSessionState;
  readonly effects: readonly SetupSessionEffect[];
  readonly changes?: (event: SetupSessionEvent) => Partial<SetupSessionContext>;
}

/** Null: ignored, whatever the event carries and whatever kind of session it is. */
type Cell = readonly Branch[] | null;

type RefusalCode = Extract<SetupSessionEffect, { type: 'refuse' }>['code'];

const IN_TIME_MS = [DUE_AT_MS - 1];
const TOO_LATE_MS = [DUE_AT_MS, DUE_AT_MS + 1];
const ADMIT: SetupSessionEffect = { type: 'admit', restart: false };
const ADMIT_AGAIN: SetupSessionEffect = { type: 'admit', restart: true };
const refuse = (code: RefusalCode): SetupSessionEffect => ({ type: 'refuse', code });
const closes = (outcome: SetupSessionOutcome): SetupSessionEffect[] => [{ type: 'closePanel', outcome }];

function claims(agents: readonly AgentIdentity[], timesMs: readonly number[], live: readonly boolean[]): SetupSessionEvent[] {
  return agents.flatMap((agent) =>
    timesMs.flatMap((nowMs) => live.map((appLive) => ({ type: 'session.claim', agent, nowMs, appLive }) as const)),
  );
}

function calls(timesMs: readonly number[], live: readonly boolean[]): SetupSessionEvent[] {
  return timesMs.flatMap((nowMs) => live.map((appLive) => ({ type: 'session.call', nowMs, appLive }) as const));
}

const expire = (timesMs: readonly number[]): SetupSessionEvent[] => timesMs.map((nowMs) => ({ type: 'session.expire', nowMs }));

const STOPPED: Cell = [{ on: [{ type: 'session.stop' }], to: 'cancelled', effects: closes('cancelled') }];
const REPLACED: Cell = [{ on: [{ type: 'session.replaced' }], to: 'cancelled', effects: closes('cancelled') }];
const EXPIRES = (from: SetupSessionState): Cell => [
  { on: expire(IN_TIME_MS), to: from, effects: [] },
  { on: expire(TOO_LATE_MS), to: 'expired', effects: closes('expired') },
];
const GOES_LIVE = (from: SetupSessionState): Cell => [
  { as: 'setup', on: [{ type: 'app.live' }], to: 'cancelled', effects: closes('cancelled') },
  { as: 'sync', on: [{ type: 'app.live' }], to: from, effects: [] },
];
const EXPIRED_AND_REFUSED: readonly SetupSessionEffect[] = [...closes('expired'), refuse('session_closed')];
const BOTH = [false, true];
const BUILDING = [false];
const LIVE = [true];

const REFUSES_CALLS = (state: SetupSessionState): Record<EventType, Cell> => ({
  'session.claim': [{ on: SESSION_EVENTS['session.claim'], to: state, effects: [refuse('session_closed')] }],
  'session.call': [{ on: SESSION_EVENTS['session.call'], to: state, effects: [refuse('session_closed')] }],
  'session.complete': null,
  'session.fail': null,
  'session.stop': null,
  'session.replaced': null,
  'session.expire': null,
  'app.live': null,
});

const noteAgent = (event: SetupSessionEvent) => ({ agent: event.type === 'session.claim' ? event.agent : null });

const TABLE: Record<SetupSessionState, Record<EventType, Cell>> = {
  open: {
    'session.claim': [
      { on: claims(AGENTS, TOO_LATE_MS, BOTH), to: 'expired', effects: EXPIRED_AND_REFUSED },
      { on: claims(AGENTS, IN_TIME_MS, BUILDING), to: 'running', effects: [ADMIT], changes: noteAgent },
      { as: 'setup', on: claims(AGENTS, IN_TIME_MS, LIVE), to: 'open', effects: [refuse('app_live')] },
      { as: 'sync', on: claims(AGENTS, IN_TIME_MS, LIVE), to: 'running', effects: [ADMIT], changes: noteAgent },
    ],
    'session.call': [
      { on: calls(TOO_LATE_MS, BOTH), to: 'expired', effects: EXPIRED_AND_REFUSED },
      { on: calls(IN_TIME_MS, BUILDING), to: 'open', effects: [refuse('not_started')] },
      { as: 'setup', on: calls(IN_TIME_MS, LIVE), to: 'open', effects: [refuse('app_live')] },
      { as: 'sync', on: calls(IN_TIME_MS, LIVE), to: 'open', effects: [refuse('not_started')] },
    ],
    'session.complete': null,
    'session.fail': null,
    'session.stop': STOPPED,
    'session.replaced': REPLACED,
    'session.expire': EXPIRES('open'),
    'app.live': GOES_LIVE('open'),
  },
  running: {
    'session.claim': [
      { on: claims(AGENTS, TOO_LATE_MS, BOTH), to: 'expired', effects: EXPIRED_AND_REFUSED },
      { on: claims([CLAUDE], IN_TIME_MS, BUILDING), to: 'running', effects: [ADMIT_AGAIN] },
      { on: claims(OTHER_AGENTS, IN_TIME_MS, BUILDING), to: 'running', effects: [refuse('already_claimed')] },
      { as: 'setup', on: claims(AGENTS, IN_TIME_MS, LIVE), to: 'running', effects: [refuse('app_live')] },
      { as: 'sync', on: claims([CLAUDE], IN_TIME_MS, LIVE), to: 'running', effects: [ADMIT_AGAIN] },
      { as: 'sync', on: claims(OTHER_AGENTS, IN_TIME_MS, LIVE), to: 'running', effects: [refuse('already_claimed')] },
    ],
    'session.call': [
      { on: calls(TOO_LATE_MS, BOTH), to: 'expired', effects: EXPIRED_AND_REFUSED },
      { on: calls(IN_TIME_MS, BUILDING), to: 'running', effects: [ADMIT] },
      { as: 'setup', on: calls(IN_TIME_MS, LIVE), to: 'running', effects: [refuse('app_live')] },
      { as: 'sync', on: calls(IN_TIME_MS, LIVE), to: 'running', effects: [ADMIT] },
    ],
    'session.complete': [{ on: [{ type: 'session.complete' }], to: 'completed', effects: closes('completed') }],
    'session.fail': [{ on: [{ type: 'session.fail' }], to: 'failed', effects: closes('failed') }],
    'session.stop': STOPPED,
    'session.replaced': REPLACED,
    'session.expire': EXPIRES('running'),
    'app.live': GOES_LIVE('running'),
  },
  completed: REFUSES_CALLS('completed'),
  failed: REFUSES_CALLS('failed'),
  cancelled: REFUSES_CALLS('cancelled'),
  expired: REFUSES_CALLS('expired'),
};

const STATES = Object.keys(TABLE) as SetupSessionState[];
const OPEN_STATES: readonly SetupSessionState[] = ['open', 'running'];

function proveCell(state: SetupSessionState, type: EventType, cell: Cell): void {
  const branches: readonly Branch[] = cell ?? [{ on: SESSION_EVENTS[type], to: state, effects: [] }];
  const proven: string[] = [];
  for (const { as, on, to, effects, changes } of branches) {
    for (const kind of as === undefined ? SESSION_KINDS : [as]) {
      for (const event of on) {
        const context = sessionContext(kind, state === 'open' ? null : CLAUDE);
        const step = stepper(setupSession, { stored: { state, context } }).send(event);
        const label = JSON.stringify({ kind, event });
        assert.equal(step.state, to, label);
        assert.deepEqual(step.effects, effects, label);
        assert.deepEqual(step.snapshot.context, { ...context, ...changes?.(event) }, label);
        proven.push(label);
      }
    }
  }
  const all = SESSION_KINDS.flatMap((kind) => SESSION_EVENTS[type].map((event) => JSON.stringify({ kind, event })));
  assert.deepEqual(proven.sort(), all.sort(), 'each kind and payload belongs to exactly one branch');
}

for (const state of STATES) {
  test(`SETUP-3: a session that is ${state}, every event`, async (t) => {
    for (const type of Object.keys(TABLE[state]) as EventType[]) {
      await t.test(`${state} × ${type}`, () => proveCell(state, type, TABLE[state][type]));
    }
  });
}

test('SETUP-3: a session opens unclaimed, and keeps its kind and its end', () => {
  for (const kind of SESSION_KINDS) {
    const machine = stepper(setupSession, { input: { kind, expiresAtMs: DUE_AT_MS } });
    assert.equal(machine.state, 'open');
    assert.deepEqual(machine.snapshot.context, sessionContext(kind, null));
  }
});

test('SETUP-22: an agent that gives neither model nor os is the same agent when it comes again', () => {
  const agent = { tool: 'cursor', model: null, os: null };
  const machine = stepper(setupSession, { input: { kind: 'setup', expiresAtMs: DUE_AT_MS } });
  const claim = { type: 'session.claim', agent, nowMs: 0, appLive: false } as const;
  assert.deepEqual(machine.send(claim).effects, [ADMIT]);
  assert.deepEqual(machine.send({ ...claim, agent: { ...agent } }).effects, [ADMIT_AGAIN]);
});

test('SETUP-5: on every way the panel closes once, and from then on the token is refused and never admitted again', () => {
  for (const kind of SESSION_KINDS) {
    let ends = 0;
    for (const path of sessionSimplePaths(kind)) {
      const machine = stepper(setupSession, { input: { kind, expiresAtMs: DUE_AT_MS } });
      const effects = path.flatMap((event) => machine.send(event).effects);
      const isClosed = !OPEN_STATES.includes(machine.state as SetupSessionState);
      ends += isClosed ? 1 : 0;
      const label = JSON.stringify(path);
      assert.deepEqual(
        effects.flatMap((effect) => (effect.type === 'closePanel' ? [effect.outcome] : [])),
        isClosed ? [machine.state] : [],
        label,
      );
      if (!isClosed) continue;
      const after = Object.values(SESSION_EVENTS)
        .flat()
        .flatMap((event) => machine.send(event).effects);
      assert.deepEqual([...new Set(after.map((effect) => JSON.stringify(effect)))], [JSON.stringify(refuse('session_closed'))], label);
    }
    assert.ok(ends > 0);
  }
});

test('SETUP-20: on every way nothing but a first claim is admitted before the claim', () => {
  for (const kind of SESSION_KINDS) {
    for (const path of sessionSimplePaths(kind)) {
      const machine = stepper(setupSession, { input: { kind, expiresAtMs: DUE_AT_MS } });
      for (const event of path) {
        const wasOpen = machine.state === 'open';
        const { effects, state } = machine.send(event);
        const isAdmitted = effects.some((effect) => effect.type === 'admit');
        if (wasOpen && isAdmitted) assert.deepEqual([event.type, state], ['session.claim', 'running'], JSON.stringify(path));
      }
    }
  }
});
