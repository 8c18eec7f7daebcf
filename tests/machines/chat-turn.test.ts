import assert from 'node:assert/strict';
import test from 'node:test';
import { type ChatTurnContext, type ChatTurnEffect, type ChatTurnEvent, chatTurn, type TurnFailure } from '../../machines/chat-turn.ts';
import { BROKEN, BUSY, CHAT_TURN_EVENTS } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import { TURN_STATES, type TurnState } from '../../protocol/runtime/states.ts';
import { chatTurnContext } from './paths.ts';

type EventType = ChatTurnEvent['type'];

/** One branch of a cell: what comes in, where it leads, what is to be done and what the turn then has in mind. */
interface Branch {
  readonly on: readonly ChatTurnEvent[];
  /** What the turn has in mind before, where it differs from the state's usual. */
  readonly given?: Partial<ChatTurnContext>;
  readonly to: TurnState;
  readonly effects: readonly ChatTurnEffect[];
  readonly changes?: Partial<ChatTurnContext>;
}

/** Null: ignored, whatever the event carries. */
type Cell = readonly Branch[] | null;

const NOBODY = { reads: 0, confirmations: 0 };
const A_READ = { reads: 1, confirmations: 0 };
const A_PERSON = { reads: 0, confirmations: 1 };
const BOTH = { reads: 1, confirmations: 1 };

const END_RESULTS: ChatTurnEffect = { type: 'endTurn', status: 'awaiting_tool_results', stopped: false };
const END_CONFIRMATION: ChatTurnEffect = { type: 'endTurn', status: 'awaiting_confirmation', stopped: false };
const END_COMPLETED: ChatTurnEffect = { type: 'endTurn', status: 'completed', stopped: false };
const END_STOPPED: ChatTurnEffect = { type: 'endTurn', status: 'completed', stopped: true };
const END_FAILED: ChatTurnEffect = { type: 'endTurn', status: 'error', stopped: false };

const open = (waiting: ChatTurnContext['waiting'], serverCalls = 0): ChatTurnEvent => ({ type: 'turn.open', serverCalls, waiting });
const WORKS: readonly ChatTurnEffect[] = [{ type: 'sendStart' }, { type: 'runCalls' }];
const finished = (serverCalls: number, waiting: ChatTurnContext['waiting']): ChatTurnEvent => ({
  type: 'round.finished',
  serverCalls,
  waiting,
});

const FINISHED: Cell = [
  { on: [finished(1, NOBODY)], to: 'working', effects: [{ type: 'runCalls' }] },
  { on: [finished(1, A_READ)], to: 'working', effects: [{ type: 'runCalls' }], changes: { waiting: A_READ } },
  { on: [finished(1, A_PERSON)], to: 'working', effects: [{ type: 'runCalls' }], changes: { waiting: A_PERSON } },
  { on: [finished(1, BOTH)], to: 'working', effects: [{ type: 'runCalls' }], changes: { waiting: BOTH } },
  {
    on: [finished(0, A_READ)],
    to: 'awaiting_tool_results',
    effects: [{ type: 'executeActions' }, END_RESULTS],
    changes: { waiting: A_READ },
  },
  { on: [finished(0, BOTH)], to: 'awaiting_tool_results', effects: [{ type: 'executeActions' }, END_RESULTS], changes: { waiting: BOTH } },
  { on: [finished(0, A_PERSON)], to: 'awaiting_confirmation', effects: [END_CONFIRMATION], changes: { waiting: A_PERSON } },
  { on: [finished(0, NOBODY)], to: 'completed', effects: [END_COMPLETED] },
];

const FAILED: Cell = [BUSY, BROKEN].map((failure) => ({
  on: [{ type: 'round.failed', failure }],
  to: 'failed',
  effects: [{ type: 'sendError', failure }, END_FAILED],
  changes: { failure },
}));

const INTERRUPTED: Cell = [BUSY, BROKEN].map((failure) => ({
  on: [{ type: 'turn.interrupted', failure }],
  to: 'failed',
  effects: [{ type: 'abortModel' }, { type: 'sendError', failure }, END_FAILED],
  changes: { failure },
}));

const STOPPED: Cell = [
  { on: [{ type: 'turn.stop' }], to: 'completed', effects: [{ type: 'abortModel' }, END_STOPPED], changes: { stopped: true } },
];

const SAID = (to: TurnState): Cell => [
  { on: [{ type: 'block.completed', blockId: 'blk_1' }], to, effects: [{ type: 'sendBlock', blockId: 'blk_1' }] },
];

const SETTLED: ChatTurnEvent = { type: 'calls.settled' };
const RESUMED: Cell = [{ on: [{ type: 'turn.resumed' }], to: 'continued', effects: [] }];
const RETRY: ChatTurnEvent = { type: 'turn.retry' };

const IGNORES_ALL: Record<EventType, Cell> = {
  'turn.open': null,
  'block.completed': null,
  'round.finished': null,
  'round.failed': null,
  'calls.settled': null,
  'turn.stop': null,
  'turn.interrupted': null,
  'turn.retry': null,
  'turn.resumed': null,
};

const TABLE: Record<TurnState, Record<EventType, Cell>> = {
  new: {
    'turn.open': [
      {
        on: [open(NOBODY)],
        to: 'answering',
        effects: [{ type: 'sendStart' }, { type: 'callModel', round: 1 }],
        changes: { round: 1 },
      },
      { on: [open(A_READ)], to: 'awaiting_tool_results', effects: [{ type: 'sendStart' }, END_RESULTS], changes: { waiting: A_READ } },
      { on: [open(BOTH)], to: 'awaiting_tool_results', effects: [{ type: 'sendStart' }, END_RESULTS], changes: { waiting: BOTH } },
      {
        on: [open(A_PERSON)],
        to: 'awaiting_confirmation',
        effects: [{ type: 'sendStart' }, END_CONFIRMATION],
        changes: { waiting: A_PERSON },
      },
      { on: [open(NOBODY, 1)], to: 'working', effects: WORKS },
      { on: [open(A_READ, 1)], to: 'working', effects: WORKS, changes: { waiting: A_READ } },
      { on: [open(A_PERSON, 1)], to: 'working', effects: WORKS, changes: { waiting: A_PERSON } },
      { on: [open(BOTH, 1)], to: 'working', effects: WORKS, changes: { waiting: BOTH } },
    ],
    'block.completed': null,
    'round.finished': null,
    'round.failed': null,
    'calls.settled': null,
    'turn.stop': null,
    'turn.interrupted': null,
    'turn.retry': null,
    'turn.resumed': null,
  },
  answering: {
    'turn.open': null,
    'block.completed': SAID('answering'),
    'round.finished': FINISHED,
    'round.failed': FAILED,
    'calls.settled': null,
    'turn.stop': STOPPED,
    'turn.interrupted': INTERRUPTED,
    'turn.retry': null,
    'turn.resumed': null,
  },
  working: {
    'turn.open': null,
    'block.completed': SAID('working'),
    'round.finished': null,
    'round.failed': FAILED,
    'calls.settled': [
      { on: [SETTLED], given: { round: 0, waiting: A_READ }, to: 'awaiting_tool_results', effects: [END_RESULTS] },
      { on: [SETTLED], given: { round: 0, waiting: BOTH }, to: 'awaiting_tool_results', effects: [END_RESULTS] },
      { on: [SETTLED], given: { waiting: A_READ }, to: 'awaiting_tool_results', effects: [{ type: 'executeActions' }, END_RESULTS] },
      { on: [SETTLED], given: { waiting: BOTH }, to: 'awaiting_tool_results', effects: [{ type: 'executeActions' }, END_RESULTS] },
      { on: [SETTLED], given: { waiting: A_PERSON }, to: 'awaiting_confirmation', effects: [END_CONFIRMATION] },
      { on: [SETTLED], given: { round: 0 }, to: 'answering', effects: [{ type: 'callModel', round: 1 }], changes: { round: 1 } },
      { on: [SETTLED], given: { round: 0, waiting: A_PERSON }, to: 'awaiting_confirmation', effects: [END_CONFIRMATION] },
      { on: [SETTLED], given: { round: 1 }, to: 'answering', effects: [{ type: 'callModel', round: 2 }], changes: { round: 2 } },
      { on: [SETTLED], given: { round: 5 }, to: 'answering', effects: [{ type: 'callModel', round: 6 }], changes: { round: 6 } },
      { on: [SETTLED], given: { round: 6 }, to: 'completed', effects: [END_COMPLETED] },
      {
        on: [SETTLED],
        given: { round: 6, waiting: A_READ },
        to: 'awaiting_tool_results',
        effects: [{ type: 'executeActions' }, END_RESULTS],
      },
    ],
    'turn.stop': STOPPED,
    'turn.interrupted': INTERRUPTED,
    'turn.retry': null,
    'turn.resumed': null,
  },
  awaiting_tool_results: { ...IGNORES_ALL, 'turn.resumed': RESUMED },
  awaiting_confirmation: { ...IGNORES_ALL, 'turn.resumed': RESUMED },
  continued: IGNORES_ALL,
  completed: IGNORES_ALL,
  failed: {
    ...IGNORES_ALL,
    'turn.retry': [
      {
        on: [RETRY],
        given: { failure: BUSY, round: 3, waiting: BOTH },
        to: 'answering',
        effects: [{ type: 'sendStart' }, { type: 'callModel', round: 1 }],
        changes: { attempt: 2, round: 1, waiting: NOBODY, failure: null },
      },
      { on: [RETRY], given: { failure: BROKEN, round: 3 }, to: 'failed', effects: [] },
    ],
  },
};

/** What a turn usually has in mind in each state. */
const USUAL: Record<TurnState, Partial<ChatTurnContext>> = {
  new: { round: 0 },
  answering: {},
  working: {},
  awaiting_tool_results: { waiting: A_READ },
  awaiting_confirmation: { waiting: A_PERSON },
  continued: { waiting: A_READ },
  completed: {},
  failed: { failure: BUSY },
};

function proveCell(state: TurnState, type: EventType, cell: Cell): void {
  const branches: readonly Branch[] = cell ?? [{ on: CHAT_TURN_EVENTS[type], to: state, effects: [] }];
  for (const { on, given, to, effects, changes } of branches) {
    for (const event of on) {
      const context = chatTurnContext({ ...USUAL[state], ...given });
      const machine = stepper(chatTurn, { stored: { state, context } });
      const step = machine.send(event);
      const label = JSON.stringify({ event, given });
      assert.equal(step.state, to, label);
      assert.deepEqual(step.effects, effects, label);
      assert.deepEqual(step.snapshot.context, { ...context, ...changes }, label);
    }
  }
  const covered = new Set(branches.flatMap((branch) => branch.on.map((event) => JSON.stringify(event))));
  assert.deepEqual(covered, new Set(CHAT_TURN_EVENTS[type].map((event) => JSON.stringify(event))), 'a payload has no branch');
}

for (const state of TURN_STATES) {
  test(`HOUSE-5: the turn in ${state}, every event`, async (t) => {
    for (const type of Object.keys(TABLE[state]) as EventType[]) {
      await t.test(`${state} × ${type}`, () => proveCell(state, type, TABLE[state][type]));
    }
  });
}

test('HOUSE-5: a turn begins new, in its first attempt, with nothing asked of the model', () => {
  const machine = stepper(chatTurn);
  assert.equal(machine.state, 'new');
  assert.deepEqual(machine.snapshot.context, chatTurnContext({ round: 0 }));
});

test('LIMIT-20: what fails in the tenth attempt is not retryable any more, but for a model that is busy', () => {
  const failed = (attempt: number, failure: TurnFailure) => {
    const machine = stepper(chatTurn, { stored: { state: 'answering', context: chatTurnContext({ attempt }) } });
    return machine.send({ type: 'round.failed', failure }).snapshot.context.failure;
  };
  const silent = { code: 'internal', message: 'Silent.', retryable: true, cause: { kind: 'silent' } } as const;
  const busy = { ...silent, code: 'model_busy' } as const;
  const wrong = { ...silent, retryable: false } as const;
  assert.deepEqual(failed(9, silent), silent);
  const last = failed(10, silent);
  assert.deepEqual([last?.code, last?.retryable, last?.cause], [silent.code, false, silent.cause]);
  assert.match(last?.message ?? '', /in 10 attempts/);
  assert.deepEqual([failed(10, busy), failed(10, wrong)], [busy, wrong]);
});
