/** The order of the turns of one conversation, with work that does as the test says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnQueue } from '../../../actors/turns/queue.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { WAITING_TURNS_MAX } from '../../../protocol/limits.ts';
import { gate } from './world.ts';

interface Key {
  readonly turnId: string;
  readonly fingerprint: string;
}

function queueOfRuns() {
  const began: string[] = [];
  let idle = 0;
  let run: Promise<void> | null = null;
  const queue = new TurnQueue<string, Key>({ running: () => run, onIdle: () => idle++ });
  return {
    queue,
    began,
    idle: () => idle,
    /** Work that begins a run until `ends`, or none. */
    work: (turnId: string, ends: Promise<void> | null) => async () => {
      began.push(turnId);
      run = ends;
      return `answer to ${turnId}`;
    },
  };
}

const keyOf = (turnId: string, fingerprint = 'same'): Key => ({ turnId, fingerprint });

test('CHAT-7: turns of one conversation run one after the other, in their order, and the conversation is idle after the last', async () => {
  const { queue, began, idle, work } = queueOfRuns();
  const first = gate();
  const answers = [queue.once(keyOf('a'), work('a', first.opened)), queue.once(keyOf('b'), work('b', null))];
  answers.push(queue.once(keyOf('c'), work('c', null)));
  assert.equal(await answers[0], 'answer to a');
  assert.deepEqual([began, queue.waiting, queue.busy, idle()], [['a'], 2, true, 0]);
  first.open();
  assert.deepEqual(await Promise.all(answers), ['answer to a', 'answer to b', 'answer to c']);
  await queue.begun();
  assert.deepEqual([began, queue.busy, idle()], [['a', 'b', 'c'], false, 1]);
});

test('CHAT-10: copies of one request share its fate, and another request with its turn_id is refused', async () => {
  const { queue, began, work } = queueOfRuns();
  const first = gate();
  await queue.once(keyOf('a'), work('a', first.opened));
  const waits = queue.once(keyOf('b'), work('b', null));
  const copy = queue.once(keyOf('b'), work('never', null));
  await assert.rejects(
    queue.once(keyOf('b', 'another'), work('never', null)),
    (error) => error instanceof Refusal && error.code === 'invalid_request',
  );
  first.open();
  assert.deepEqual([await waits, await copy], ['answer to b', 'answer to b']);
  assert.deepEqual(began, ['a', 'b']);
});

test('CHAT-7, CHAT-8: no more than a few turns wait, and one that is withdrawn leaves its place and is told that it was stopped', async () => {
  const { queue, began, work } = queueOfRuns();
  const first = gate();
  await queue.once(keyOf('a'), work('a', first.opened));
  const waiting = Array.from({ length: WAITING_TURNS_MAX }, (_, n) => queue.once(keyOf(`w${n}`), work(`w${n}`, null)));
  await assert.rejects(queue.once(keyOf('x'), work('x', null)), (error) => error instanceof Refusal && error.code === 'rate_limited');
  assert.equal(
    queue.withdraw('w0', () => false),
    false,
    'somebody else’s',
  );
  assert.equal(
    queue.withdraw('w0', () => true),
    true,
  );
  await assert.rejects(waiting[0] ?? Promise.resolve(), (error) => error instanceof Refusal && error.stopped);
  const late = queue.once(keyOf('x'), work('x', null));
  first.open();
  await Promise.all([...waiting.slice(1), late]);
  assert.deepEqual(began, ['a', ...waiting.slice(1).map((_, n) => `w${n + 1}`), 'x']);
});

test('CHAT-7: work that fails lets the next turn in', async () => {
  const { queue, work } = queueOfRuns();
  const fails = queue.once(keyOf('a'), () => Promise.reject(new Error('no')));
  const next = queue.once(keyOf('b'), work('b', null));
  await assert.rejects(fails, /no/);
  assert.equal(await next, 'answer to b');
});
