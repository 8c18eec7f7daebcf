import assert from 'node:assert/strict';
import test from 'node:test';
import { stepper } from '../../src/actors/step.ts';
import { type ChatTurnContext, type ChatTurnEffect, type ChatTurnEvent, chatTurn } from '../../src/machines/chat-turn.ts';
import { TURN_STATES, type TurnState } from '../../src/protocol/runtime/states.ts';
import { BROKEN, BUSY, CHAT_TURN_EVENTS, chatTurnContext, chatTurnPaths, chatTurnSimplePaths } from './paths.ts';

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

const open = (waiting: ChatTurnContext['waiting']): ChatTurnEvent => ({ type: 'turn.open', waiting });
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
      { on: [SETTLED], given: { waiting: A_READ }, to: 'awaiting_tool_results', effects: [{ type: 'executeActions' }, END_RESULTS] },
      { on: [SETTLED], given: { waiting: BOTH }, to: 'awaiting_tool_results', effects: [{ type: 'executeActions' }, END_RESULTS] },
      { on: [SETTLED], given: { waiting: A_PERSON }, to: 'awaiting_confirmation', effects: [END_CONFIRMATION] },
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
  test(`Chat turn: ${state}, every event`, async (t) => {
    for (const type of Object.keys(TABLE[state]) as EventType[]) {
      await t.test(`${state} × ${type}`, () => proveCell(state, type, TABLE[state][type]));
    }
  });
}

test('Chat turn: a turn begins new, in its first attempt, with nothing asked of the model', () => {
  const machine = stepper(chatTurn);
  assert.equal(machine.state, 'new');
  assert.deepEqual(machine.snapshot.context, chatTurnContext({ round: 0 }));
});

interface Replay {
  readonly effects: readonly ChatTurnEffect[];
  readonly state: string;
}

function replay(path: readonly ChatTurnEvent[]): Replay {
  const machine = stepper(chatTurn);
  return { effects: path.flatMap((event) => [...machine.send(event).effects]), state: machine.state };
}

/** The effects of each attempt: `sendStart` opens one. */
function attemptsOf(effects: readonly ChatTurnEffect[]): ChatTurnEffect[][] {
  const attempts: ChatTurnEffect[][] = [];
  for (const effect of effects) {
    if (effect.type === 'sendStart') attempts.push([]);
    const attempt = attempts.at(-1);
    assert.ok(attempt, `${effect.type} before any sendStart`);
    attempt.push(effect);
  }
  return attempts;
}

/** What holds on every way through a turn, wherever it stops. */
function proveAttempts(path: readonly ChatTurnEvent[]): ChatTurnEffect[][] {
  const { effects, state } = replay(path);
  const label = JSON.stringify(path);
  const attempts = attemptsOf(effects);
  attempts.forEach((attempt, nth) => {
    const types = attempt.map((effect) => effect.type);
    const ends = types.filter((type) => type === 'endTurn').length;
    const isOpen = nth === attempts.length - 1 && (state === 'answering' || state === 'working');
    assert.equal(ends, isOpen ? 0 : 1, `${ends} ends: ${label}`);
    if (ends === 1) assert.equal(types.at(-1), 'endTurn', `something after the end: ${label}`);
    const rounds = attempt.flatMap((effect) => (effect.type === 'callModel' ? [effect.round] : []));
    assert.deepEqual(
      rounds,
      Array.from(rounds, (_, k) => k + 1),
      `rounds: ${label}`,
    );
    assert.ok(rounds.length <= 6, `more than six rounds: ${label}`);
  });
  return attempts;
}

test('Chat turn: turn.start opens and one turn.end closes every attempt, on every way through it', () => {
  const paths = chatTurnSimplePaths();
  assert.ok(paths.length > 100);
  for (const path of paths) proveAttempts(path);
});

test('Chat turn: over every transition of two attempts, each attempt ends exactly once', () => {
  let retried = 0;
  for (const path of chatTurnPaths()) {
    const attempts = proveAttempts(path);
    assert.ok(attempts.every((attempt) => attempt.at(-1)?.type === 'endTurn'));
    if (attempts.length === 2) {
      retried += 1;
      assert.deepEqual(attempts[0]?.at(-1), END_FAILED, 'only a failed attempt is tried again');
    }
  }
  assert.ok(retried > 0);
});

test('Chat turn: an error event precedes turn.end error, and nothing else ends with an error', () => {
  for (const path of chatTurnPaths()) {
    for (const attempt of attemptsOf(replay(path).effects)) {
      const end = attempt.at(-1);
      assert.ok(end?.type === 'endTurn');
      assert.equal(attempt.at(-2)?.type === 'sendError', end.status === 'error');
      assert.equal(attempt.filter((effect) => effect.type === 'sendError').length, end.status === 'error' ? 1 : 0);
    }
  }
});

test('Chat turn: action.execute is sent exactly by a turn that ends awaiting_tool_results after asking the model', () => {
  for (const path of chatTurnPaths()) {
    for (const attempt of attemptsOf(replay(path).effects)) {
      const end = attempt.at(-1);
      assert.ok(end?.type === 'endTurn');
      const asked = attempt.some((effect) => effect.type === 'callModel');
      const executes = attempt.filter((effect) => effect.type === 'executeActions').length;
      assert.equal(executes, asked && end.status === 'awaiting_tool_results' ? 1 : 0);
    }
  }
});

test('Chat turn: the generated ways take every transition that the definition has', () => {
  const taken = new Set<string>();
  for (const path of chatTurnPaths()) {
    const machine = stepper(chatTurn);
    for (const event of path) {
      const from = machine.state;
      taken.add(`${from} ${event.type} ${machine.send(event).state}`);
    }
  }
  const written = TURN_STATES.flatMap((state) =>
    (Object.entries(TABLE[state]) as [EventType, Cell][]).flatMap(([type, cell]) =>
      (cell ?? []).filter((branch) => branch.to !== state || branch.effects.length > 0).map((branch) => `${state} ${type} ${branch.to}`),
    ),
  );
  assert.deepEqual(taken, new Set(written));
});
