import assert from 'node:assert/strict';
import test from 'node:test';
import { type InvocationContext, type InvocationEvent, invocation, type ResultStatus } from '../../machines/invocation.ts';
import { DUE_AT_MS, INVOCATION_EVENTS, type Profile } from '../../machines/simulator/samples.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { INVOCATION_STATES, type InvocationState } from '../../protocol/runtime/states.ts';
import { CALLERS, CLIENT_READ, CLIENT_WRITES, invocationContext, SERVER_READ, SERVER_WRITES, WRITES } from './paths.ts';

type EventType = InvocationEvent['type'];

/** One branch of a cell: who calls what, what comes in and where it leads. */
interface Branch {
  /** All of the state's callers when absent. */
  readonly as?: readonly Profile[];
  readonly on: readonly InvocationEvent[];
  readonly to: InvocationState;
  readonly changes?: Partial<InvocationContext>;
}

/** Null: ignored, whatever the event carries and whoever calls. */
type Cell = readonly Branch[] | null;

/** Results of these statuses; both ways of a flag that is not named. */
function results(
  statuses: readonly ResultStatus[],
  flags: { readonly confirmed?: boolean; readonly recordRequired?: boolean } = {},
): readonly InvocationEvent[] {
  const both = [false, true];
  return statuses.flatMap((status) =>
    (flags.confirmed === undefined ? both : [flags.confirmed]).flatMap((confirmed) =>
      (flags.recordRequired === undefined ? both : [flags.recordRequired]).map(
        (recordRequired) => ({ type: 'result.received', status, confirmed, recordRequired }) as const,
      ),
    ),
  );
}

const OFF_CLOCK = { expiresAtMs: null };
const EARLY: InvocationEvent = { type: 'expire', nowMs: DUE_AT_MS - 1 };
const DUE: readonly InvocationEvent[] = [
  { type: 'expire', nowMs: DUE_AT_MS },
  { type: 'expire', nowMs: DUE_AT_MS + 1 },
];
const WENT_WRONG: readonly ResultStatus[] = ['error', 'timeout', 'unavailable'];

const DECLINE: Cell = [{ on: [{ type: 'decline' }], to: 'declined', changes: OFF_CLOCK }];
const LOST: Cell = [{ on: [{ type: 'answer.lost' }], to: 'unknown', changes: OFF_CLOCK }];
const EDIT: Cell = [{ on: [{ type: 'edit.begin' }], to: 'pending.editing' }];
const expires = (from: InvocationState, to: InvocationState): Cell => [
  { on: [EARLY], to: from },
  { on: DUE, to, changes: OFF_CLOCK },
];
/** The card cannot be confirmed now: a success is one that nobody confirmed. */
const UNCONFIRMABLE_RESULT: Cell = [
  { on: results(['ok', 'declined']), to: 'declined', changes: OFF_CLOCK },
  { on: results(WENT_WRONG), to: 'failed', changes: OFF_CLOCK },
];

const IGNORES_ALL: Record<EventType, Cell> = {
  dispatch: null,
  confirm: null,
  decline: null,
  expire: null,
  'edit.begin': null,
  'edit.accept': null,
  'edit.reject': null,
  'result.received': null,
  'execution.started': null,
  'execution.settled': null,
  'process.lost': null,
  'answer.lost': null,
};

const TABLE: Record<InvocationState, Record<EventType, Cell>> = {
  requested: {
    dispatch: [
      { as: [CLIENT_READ], on: INVOCATION_EVENTS.dispatch, to: 'dispatched', changes: { expiresAtMs: DUE_AT_MS } },
      { as: [SERVER_READ], on: INVOCATION_EVENTS.dispatch, to: 'requested' },
      { as: WRITES, on: INVOCATION_EVENTS.dispatch, to: 'pending.clean', changes: { expiresAtMs: DUE_AT_MS } },
    ],
    confirm: null,
    decline: null,
    expire: null,
    'edit.begin': null,
    'edit.accept': null,
    'edit.reject': null,
    'result.received': null,
    'execution.started': [
      { as: [SERVER_READ], on: [{ type: 'execution.started' }], to: 'executing' },
      { as: [CLIENT_READ, ...WRITES], on: [{ type: 'execution.started' }], to: 'requested' },
    ],
    'execution.settled': null,
    'process.lost': null,
    'answer.lost': null,
  },
  dispatched: {
    ...IGNORES_ALL,
    expire: expires('dispatched', 'timed_out'),
    'result.received': [
      { on: results(['ok']), to: 'succeeded', changes: OFF_CLOCK },
      { on: results(['timeout']), to: 'timed_out', changes: OFF_CLOCK },
      { on: results(['declined']), to: 'declined', changes: OFF_CLOCK },
      { on: results(['error', 'unavailable']), to: 'failed', changes: OFF_CLOCK },
    ],
  },
  'pending.clean': {
    dispatch: null,
    confirm: [{ on: INVOCATION_EVENTS.confirm, to: 'confirmed', changes: { expiresAtMs: DUE_AT_MS } }],
    decline: DECLINE,
    expire: expires('pending.clean', 'expired'),
    'edit.begin': EDIT,
    'edit.accept': null,
    'edit.reject': null,
    'result.received': [
      { as: CLIENT_WRITES, on: results(['ok'], { confirmed: true, recordRequired: false }), to: 'succeeded', changes: OFF_CLOCK },
      { as: SERVER_WRITES, on: results(['ok'], { confirmed: true, recordRequired: false }), to: 'confirmed', changes: OFF_CLOCK },
      { on: results(['ok'], { confirmed: true, recordRequired: true }), to: 'declined', changes: OFF_CLOCK },
      { on: results(['ok'], { confirmed: false }), to: 'declined', changes: OFF_CLOCK },
      { on: results(['declined']), to: 'declined', changes: OFF_CLOCK },
      { on: results(WENT_WRONG), to: 'failed', changes: OFF_CLOCK },
    ],
    'execution.started': null,
    'execution.settled': null,
    'process.lost': null,
    'answer.lost': LOST,
  },
  'pending.editing': {
    dispatch: null,
    confirm: null,
    decline: DECLINE,
    expire: expires('pending.editing', 'expired'),
    'edit.begin': null,
    'edit.accept': [{ on: [{ type: 'edit.accept' }], to: 'pending.clean', changes: { revision: 2 } }],
    'edit.reject': [{ on: [{ type: 'edit.reject' }], to: 'pending.rejected' }],
    'result.received': UNCONFIRMABLE_RESULT,
    'execution.started': null,
    'execution.settled': null,
    'process.lost': [{ on: [{ type: 'process.lost' }], to: 'pending.clean' }],
    'answer.lost': LOST,
  },
  'pending.rejected': {
    dispatch: null,
    confirm: null,
    decline: DECLINE,
    expire: expires('pending.rejected', 'expired'),
    'edit.begin': EDIT,
    'edit.accept': null,
    'edit.reject': null,
    'result.received': UNCONFIRMABLE_RESULT,
    'execution.started': null,
    'execution.settled': null,
    'process.lost': null,
    'answer.lost': LOST,
  },
  confirmed: {
    ...IGNORES_ALL,
    expire: expires('confirmed', 'expired'),
    'result.received': [
      {
        as: CLIENT_WRITES,
        on: [...results(['ok'], { confirmed: true }), ...results(['ok'], { confirmed: false, recordRequired: true })],
        to: 'succeeded',
        changes: OFF_CLOCK,
      },
      {
        as: SERVER_WRITES,
        on: [...results(['ok'], { confirmed: true }), ...results(['ok'], { confirmed: false, recordRequired: true })],
        to: 'confirmed',
      },
      { on: results(['ok'], { confirmed: false, recordRequired: false }), to: 'declined', changes: OFF_CLOCK },
      { on: results(['declined']), to: 'declined', changes: OFF_CLOCK },
      { on: results(WENT_WRONG), to: 'failed', changes: OFF_CLOCK },
    ],
    'execution.started': [
      { as: SERVER_WRITES, on: [{ type: 'execution.started' }], to: 'executing', changes: OFF_CLOCK },
      { as: CLIENT_WRITES, on: [{ type: 'execution.started' }], to: 'confirmed' },
    ],
  },
  executing: {
    ...IGNORES_ALL,
    'execution.settled': [
      { on: [{ type: 'execution.settled', outcome: 'succeeded' }], to: 'succeeded' },
      { on: [{ type: 'execution.settled', outcome: 'failed' }], to: 'failed' },
      { on: [{ type: 'execution.settled', outcome: 'unknown' }], to: 'unknown' },
    ],
    'process.lost': [{ on: [{ type: 'process.lost' }], to: 'unknown' }],
  },
  declined: IGNORES_ALL,
  expired: IGNORES_ALL,
  succeeded: IGNORES_ALL,
  failed: IGNORES_ALL,
  timed_out: IGNORES_ALL,
  unknown: IGNORES_ALL,
};

function stored(state: InvocationState, profile: Profile): Stepper<typeof invocation> {
  const runsOut = state === 'dispatched' || state === 'confirmed' || state.startsWith('pending.');
  return stepper(invocation, { stored: { state, context: invocationContext(profile, runsOut ? DUE_AT_MS : null) } });
}

function proveCell(state: InvocationState, type: EventType, cell: Cell): void {
  const branches: readonly Branch[] = cell ?? [{ on: INVOCATION_EVENTS[type], to: state }];
  const proven: string[] = [];
  for (const { as, on, to, changes } of branches) {
    for (const profile of as ?? CALLERS[state]) {
      for (const event of on) {
        const machine = stored(state, profile);
        const before = machine.snapshot.context;
        const step = machine.send(event);
        const label = JSON.stringify({ profile, event });
        assert.equal(step.state, to, label);
        assert.deepEqual(step.effects, [], label);
        assert.deepEqual(step.snapshot.context, { ...before, ...changes }, label);
        proven.push(label);
      }
    }
  }
  const all = CALLERS[state].flatMap((profile) => INVOCATION_EVENTS[type].map((event) => JSON.stringify({ profile, event })));
  assert.deepEqual(proven.sort(), all.sort(), 'each caller and payload belongs to exactly one branch');
}

for (const state of INVOCATION_STATES) {
  test(`HOUSE-5: the call in ${state}, every event`, async (t) => {
    for (const type of Object.keys(TABLE[state]) as EventType[]) {
      await t.test(`${state} × ${type}`, () => proveCell(state, type, TABLE[state][type]));
    }
  });
}

test('CONFIRM-6: a state without a deadline never expires', () => {
  for (const state of ['dispatched', 'pending.clean'] as const) {
    for (const profile of CALLERS[state]) {
      const machine = stepper(invocation, { stored: { state, context: invocationContext(profile, null) } });
      assert.equal(machine.send({ type: 'expire', nowMs: Number.MAX_SAFE_INTEGER }).state, state);
    }
  }
});

test('CONFIRM-5: a decline never overwrites a confirmation', () => {
  for (const profile of WRITES) {
    const machine = stored('pending.clean', profile);
    machine.send({ type: 'confirm', expiresAtMs: DUE_AT_MS });
    assert.equal(machine.send({ type: 'decline' }).state, 'confirmed');
  }
});
