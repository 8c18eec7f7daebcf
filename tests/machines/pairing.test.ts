import assert from 'node:assert/strict';
import test from 'node:test';
import { getSimplePaths } from 'xstate/graph';
import { type PairingContext, type PairingEvent, type PairingState, pairing } from '../../machines/pairing.ts';
import { stepper } from '../../machines/step.ts';

type EventType = PairingEvent['type'];

const DUE_AT_MS = 1_000;
const WATCHED_UNTIL_MS = 5_000;
const TIMES_MS = [DUE_AT_MS - 1, DUE_AT_MS, DUE_AT_MS + 1];

const EVENTS: { readonly [Type in EventType]: readonly Extract<PairingEvent, { type: Type }>[] } = {
  'pairing.claim': TIMES_MS.map((nowMs) => ({ type: 'pairing.claim', nowMs, watchedUntilMs: WATCHED_UNTIL_MS })),
  'pairing.replaced': [{ type: 'pairing.replaced' }],
  'pairing.expire': TIMES_MS.map((nowMs) => ({ type: 'pairing.expire', nowMs })),
};

interface Outcome {
  readonly to: PairingState;
  /** Where it changes. */
  readonly dueAtMs?: number;
}

/** One outcome for each payload of EVENTS, in that order: before the time, at it and after it. */
const TABLE: Record<PairingState, Record<EventType, readonly Outcome[]>> = {
  open: {
    'pairing.claim': [{ to: 'claimed', dueAtMs: WATCHED_UNTIL_MS }, { to: 'expired' }, { to: 'expired' }],
    'pairing.replaced': [{ to: 'expired' }],
    'pairing.expire': [{ to: 'open' }, { to: 'expired' }, { to: 'expired' }],
  },
  claimed: {
    'pairing.claim': [{ to: 'claimed' }, { to: 'claimed' }, { to: 'claimed' }],
    'pairing.replaced': [{ to: 'claimed' }],
    'pairing.expire': [{ to: 'claimed' }, { to: 'over' }, { to: 'over' }],
  },
  expired: {
    'pairing.claim': [{ to: 'expired' }, { to: 'expired' }, { to: 'expired' }],
    'pairing.replaced': [{ to: 'expired' }],
    'pairing.expire': [{ to: 'expired' }, { to: 'expired' }, { to: 'expired' }],
  },
  over: {
    'pairing.claim': [{ to: 'over' }, { to: 'over' }, { to: 'over' }],
    'pairing.replaced': [{ to: 'over' }],
    'pairing.expire': [{ to: 'over' }, { to: 'over' }, { to: 'over' }],
  },
};

for (const state of Object.keys(TABLE) as PairingState[]) {
  for (const type of Object.keys(TABLE[state]) as EventType[]) {
    test(`PAIRING-1: a pairing that is ${state} × ${type}`, () => {
      assert.equal(TABLE[state][type].length, EVENTS[type].length);
      EVENTS[type].forEach((event, at) => {
        const outcome = TABLE[state][type][at] as Outcome;
        const step = stepper(pairing, { stored: { state, context: { dueAtMs: DUE_AT_MS } } }).send(event);
        const { dueAtMs } = step.snapshot.context as PairingContext;
        assert.deepEqual({ to: step.state, dueAtMs }, { dueAtMs: DUE_AT_MS, ...outcome }, JSON.stringify(event));
        assert.deepEqual(step.effects, []);
      });
    });
  }
}

test('PAIRING-1: a new code is good until the time that it was given', () => {
  const claimed = EVENTS['pairing.claim'].map((claim) => stepper(pairing, { input: { dueAtMs: DUE_AT_MS } }).send(claim).state);
  assert.deepEqual(claimed, ['claimed', 'expired', 'expired']);
});

test('PAIRING-4: on every way a code is claimed once at most, and watching ends', () => {
  const paths = getSimplePaths(pairing, {
    input: { dueAtMs: DUE_AT_MS },
    // Watching ends later than any code.
    events: [...Object.values(EVENTS).flat(), { type: 'pairing.expire', nowMs: WATCHED_UNTIL_MS }],
  });
  const reached = new Set<string>();
  for (const path of paths) {
    const machine = stepper(pairing, { input: { dueAtMs: DUE_AT_MS } });
    const states = [machine.state];
    for (const { event } of path.steps) states.push(machine.send(event).state);
    const changes = states.filter((state, at) => at > 0 && state !== states[at - 1]);
    assert.ok(changes.filter((state) => state === 'claimed').length <= 1);
    if (changes.includes('over')) assert.deepEqual(changes, ['claimed', 'over']);
    for (const state of states) reached.add(state);
  }
  assert.deepEqual([...reached].sort(), Object.keys(TABLE).sort());
});
