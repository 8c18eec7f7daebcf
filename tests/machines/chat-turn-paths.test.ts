import assert from 'node:assert/strict';
import test from 'node:test';
import { type ChatTurnEffect, type ChatTurnEvent, chatTurn } from '../../machines/chat-turn.ts';
import { machineGraph } from '../../machines/graph.ts';
import { stepper } from '../../machines/step.ts';
import { chatTurnPaths, chatTurnSimplePaths } from './paths.ts';

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

test('STREAM-7: turn.start opens and one turn.end closes every attempt, on every way through it', () => {
  const paths = chatTurnSimplePaths();
  assert.ok(paths.length > 100);
  for (const path of paths) proveAttempts(path);
});

test('CHAT-17: over every transition of two attempts, each attempt ends exactly once', () => {
  let retried = 0;
  for (const path of chatTurnPaths()) {
    const attempts = proveAttempts(path);
    assert.ok(attempts.every((attempt) => attempt.at(-1)?.type === 'endTurn'));
    if (attempts.length === 2) {
      retried += 1;
      assert.deepEqual(attempts[0]?.at(-1), { type: 'endTurn', status: 'error', stopped: false }, 'only a failed attempt is tried again');
    }
  }
  assert.ok(retried > 0);
});

test('STREAM-11: an error event precedes turn.end error, and nothing else ends with an error', () => {
  for (const path of chatTurnPaths()) {
    for (const attempt of attemptsOf(replay(path).effects)) {
      const end = attempt.at(-1);
      assert.ok(end?.type === 'endTurn');
      assert.equal(attempt.at(-2)?.type === 'sendError', end.status === 'error');
      assert.equal(attempt.filter((effect) => effect.type === 'sendError').length, end.status === 'error' ? 1 : 0);
    }
  }
});

test('ACTION-1: action.execute is sent exactly by a turn that ends awaiting_tool_results after asking the model', () => {
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

test('HOUSE-6: the generated ways take every transition that the definition has', () => {
  const taken = new Set<string>();
  for (const path of chatTurnPaths()) {
    const machine = stepper(chatTurn);
    for (const event of path) {
      const from = machine.state;
      taken.add(`${from} ${event.type} ${machine.send(event).state}`);
    }
  }
  const defined = machineGraph(chatTurn).edges.map((edge) => `${edge.from} ${edge.event} ${edge.to}`);
  assert.deepEqual(taken, new Set(defined));
});
