/** Traces of machines are what a replay says again: every machine, with whatever strangers write into payloads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type AnyStateMachine, createActor, type EventFromLogic } from 'xstate';
import { appLifecycle } from '../../machines/app-lifecycle.ts';
import { chatTurn } from '../../machines/chat-turn.ts';
import { invocation } from '../../machines/invocation.ts';
import { knowledgeSource } from '../../machines/knowledge-source.ts';
import { organisationMove } from '../../machines/organisation-move.ts';
import { pairing } from '../../machines/pairing.ts';
import { type Replayable, replay } from '../../machines/replay.ts';
import { setupSession } from '../../machines/setup-session.ts';
import {
  APP_EVENTS,
  CHAT_TURN_EVENTS,
  DUE_AT_MS,
  INVOCATION_EVENTS,
  MOVE_EVENTS,
  PAIRING_EVENTS,
  PROFILES,
  SESSION_EVENTS,
  SOURCE_EVENTS,
} from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import { stepPanel } from '../../machines/step-panel.ts';
import { keptEffects, keptEvent, packSteps, unpackSteps, WRITTEN } from '../../machines/trace.ts';
import { AGENT_STEPS, STEP_IDS } from '../../protocol/setup/steps.ts';
import { SESSION_KINDS } from './setup-paths.ts';

interface Sent {
  readonly type: string;
}

interface Subject {
  readonly machine: AnyStateMachine;
  readonly inputs: readonly unknown[];
  readonly events: fc.Arbitrary<Sent>;
}

const said = fc.oneof(fc.string(), fc.constantFrom('Ann Example', 'ann@example.com', 'sk_live_canary'));

function oneOf(byType: Readonly<Record<string, readonly Sent[]>>): fc.Arbitrary<Sent> {
  return fc.constantFrom(...Object.values(byType).flat());
}

const failures = fc.record({ code: fc.constantFrom('model_busy', 'internal'), message: said, retryable: fc.boolean() });

const panelEvents: fc.Arbitrary<Sent> = fc.oneof(
  fc.constantFrom<Sent>({ type: 'session.claimed' }, { type: 'session.completed' }),
  fc.record({ type: fc.constant('session.failed'), step: fc.constantFrom(null, ...AGENT_STEPS) }),
  fc.record({
    type: fc.constant('step.reported'),
    step: fc.constantFrom(...AGENT_STEPS),
    status: fc.constantFrom('progress', 'done', 'failed', 'skipped'),
  }),
  fc.record({ type: fc.constant('step.written'), step: fc.constantFrom(...AGENT_STEPS) }),
  fc.record({ type: fc.constant('step.observed'), step: fc.constantFrom(...STEP_IDS) }),
);

const SUBJECTS: readonly Subject[] = [
  {
    machine: chatTurn,
    inputs: [undefined],
    events: fc.oneof(
      oneOf(CHAT_TURN_EVENTS),
      fc.record({ type: fc.constantFrom('round.failed', 'turn.interrupted'), failure: failures }),
      fc.record({ type: fc.constant('block.completed'), blockId: said }),
    ),
  },
  { machine: invocation, inputs: PROFILES, events: oneOf(INVOCATION_EVENTS) },
  { machine: setupSession, inputs: SESSION_KINDS.map((kind) => ({ kind, expiresAtMs: DUE_AT_MS })), events: oneOf(SESSION_EVENTS) },
  { machine: stepPanel, inputs: [undefined], events: panelEvents },
  { machine: knowledgeSource, inputs: [undefined], events: oneOf(SOURCE_EVENTS) },
  { machine: appLifecycle, inputs: [undefined], events: oneOf(APP_EVENTS) },
  { machine: pairing, inputs: [{ dueAtMs: DUE_AT_MS }], events: oneOf(PAIRING_EVENTS) },
  { machine: organisationMove, inputs: [undefined], events: oneOf(MOVE_EVENTS) },
];

/** The trace of a machine that was sent `events`, kept in pieces of `perCommit` steps as rows are. */
function traceOf(machine: AnyStateMachine, input: unknown, events: readonly Sent[], perCommit: number): Replayable {
  const live = stepper(machine, input === undefined ? {} : { input });
  const packed: string[] = [];
  const commit = () => {
    const taken = live.takeSteps();
    const piece = packSteps(taken.made, taken.input);
    if (piece !== null) packed.push(piece);
  };
  for (const [index, event] of events.entries()) {
    live.send(event as EventFromLogic<AnyStateMachine>);
    if (index % perCommit === perCommit - 1) commit();
  }
  commit();
  const pieces = packed.map(unpackSteps);
  const begun = pieces[0]?.input;
  return { ...(begun === undefined ? {} : { input: begun }), steps: pieces.flatMap(({ steps }) => steps) };
}

const histories = fc.constantFrom(...SUBJECTS).chain(({ machine, inputs, events }) =>
  fc.record({
    machine: fc.constant(machine),
    input: fc.constantFrom(...inputs),
    events: fc.array(events, { maxLength: 25 }),
    perCommit: fc.integer({ min: 1, max: 5 }),
  }),
);

const OPEN: Sent = { type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } } as Sent;

test('TRACE-7: 5,000 random histories end where actors of XState end, with the same effects', () => {
  fc.assert(
    fc.property(histories, ({ machine, input, events }) => {
      const ours = stepper(machine, input === undefined ? {} : { input });
      const actor = createActor(machine, { input: input as never });
      let emitted: unknown[] = [];
      actor.on('*', (effect) => emitted.push(effect));
      actor.start();
      for (const event of events as readonly EventFromLogic<AnyStateMachine>[]) {
        emitted = [];
        const { effects, snapshot } = ours.send(event);
        actor.send(event);
        const { value, context, status } = actor.getSnapshot();
        assert.deepEqual(
          { value: snapshot.value, context: snapshot.context, status: snapshot.status, effects },
          { value, context, status, effects: emitted },
        );
      }
    }),
    { numRuns: 5_000 },
  );
});

test('TRACE-7: 10,000 random histories are replayed to the kept states and effects, step by step', () => {
  fc.assert(
    fc.property(histories, ({ machine, input, events, perCommit }) => {
      const trace = traceOf(machine, input, events, perCommit);
      assert.deepEqual(replay(machine, trace), { same: trace.steps.length, difference: null });
    }),
    { numRuns: 10_000 },
  );
});

test('TRACE-3: nothing that somebody wrote is in a trace, and what is kept stays as it is when it is kept once more', () => {
  const failure = { code: 'internal', message: 'ann@example.com', retryable: true } as const;
  const trace = traceOf(chatTurn, undefined, [OPEN, { type: 'round.failed', failure } as Sent], 1);
  const [, failed] = trace.steps;
  assert.deepEqual(failed?.event, { type: 'round.failed', failure: { code: 'internal', message: WRITTEN, retryable: true } });
  assert.ok(!JSON.stringify(trace).includes('ann@'));
  const agent = { tool: 'Ann Example', model: 'sk_live_canary', os: null };
  const claimed = traceOf(
    setupSession,
    { kind: 'setup', expiresAtMs: 10 },
    [{ type: 'session.claim', agent, nowMs: 1, appLive: false } as Sent],
    1,
  );
  assert.deepEqual(claimed.steps[0]?.event.agent, { tool: WRITTEN, model: WRITTEN, os: null });
  for (const { event, effects } of [...trace.steps, ...claimed.steps]) {
    assert.deepEqual([keptEvent(event), keptEffects(effects)], [event, effects]);
  }
});

describe('TRACE-3: what is kept is bounded', () => {
  test('depth, fields, items and steps', () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n]));
    const deep = { a: { b: { c: { d: { e: { f: 1 } } } } } };
    const event = { type: 'x', wide, deep, long: Array.from({ length: 100 }, () => 1), word: 'y'.repeat(10_000) };
    const made = Array.from({ length: 1_000 }, (_, n) => ({ atMs: n, event, context: {}, from: 's', to: 's', effects: [] }));
    const { steps } = unpackSteps(packSteps(made) as string);
    assert.ok(steps.length < 400);
    assert.ok(JSON.stringify(steps[0]).length < 2_000);
  });

  test('a field of trusted words holds nothing else', () => {
    const made = [
      { atMs: 1, event: { type: 'x', status: 'Ann Example said so', code: 'internal' }, context: {}, from: 's', to: 's', effects: [] },
    ];
    const { steps } = unpackSteps(packSteps(made) as string);
    assert.deepEqual(steps[0]?.event, { type: 'x', status: WRITTEN, code: 'internal' });
  });
});

describe('TRACE-7: a trace that differs', () => {
  const trace = traceOf(chatTurn, undefined, [OPEN, { type: 'turn.stop' }], 9);
  const changed = (step: number, change: object): Replayable => ({
    steps: trace.steps.map((each, index) => (index === step ? { ...each, ...change } : each)),
  });

  test('in a state: the step is named', () => {
    const { same, difference } = replay(chatTurn, changed(1, { to: 'failed' }));
    assert.deepEqual(
      [same, difference?.step, difference?.of, difference?.kept, difference?.replayed],
      [1, 2, 'state', 'failed', 'completed'],
    );
    assert.match(difference?.sentence ?? '', /^Step 2, turn\.stop: [^.]+failed[^.]+completed\.$/);
  });

  test('in its effects: the step is named', () => {
    const { difference } = replay(chatTurn, changed(0, { effects: [] }));
    assert.deepEqual([difference?.step, difference?.of], [1, 'effects']);
    assert.match(difference?.sentence ?? '', /none, and those of the machine sendStart, callModel\.$/);
  });

  test('one that begins later, or lacks what the machine begins with', () => {
    assert.equal(replay(chatTurn, { steps: trace.steps.slice(1) }).difference?.of, 'beginning');
    const calls = traceOf(invocation, PROFILES[0], [{ type: 'dispatch', expiresAtMs: 5 } as Sent], 9);
    assert.equal(replay(invocation, { steps: calls.steps }).difference?.of, 'beginning');
  });

  test('one without steps is the same', () => {
    assert.deepEqual(replay(chatTurn, { steps: [] }), { same: 0, difference: null });
  });
});
