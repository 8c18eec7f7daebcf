/** How many bytes of pictures are sent at once, by device, app and process, and who waits for how long. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SendingBudget } from '../../../../assistant/models/stream/sending-budget.ts';

const WAIT_MS = 1_000;

function fixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const budget = new SendingBudget({
    deviceMaxBytes: 100,
    appMaxBytes: 200,
    processMaxBytes: 300,
    appWaitingMax: 2,
    processWaitingMax: 3,
    waitMaxMs: WAIT_MS,
  });
  const told: string[] = [];
  const enter = (name: string, app: string, device: string, bytes: number) =>
    budget.enter({ app, device }, bytes, { admitted: () => told.push(`${name} in`), refused: () => told.push(`${name} refused`) });
  return { budget, told, enter, pass: (ms: number) => t.mock.timers.tick(ms) };
}

test('MODEL-19: what fits into the shares of device, app and process goes at once; what does not waits for room, and its share alone', (t) => {
  const { budget, told, enter } = fixture(t);
  const first = enter('a1', 'a', '1', 100);
  enter('a1 again', 'a', '1', 1);
  enter('a2', 'a', '2', 100);
  enter('a3', 'a', '3', 1);
  enter('b1', 'b', '1', 90);
  assert.deepEqual(told, ['a1 in', 'a2 in', 'b1 in']);
  assert.deepEqual([budget.bytes, budget.waiting], [290, 2]);
  first();
  first();
  assert.deepEqual(told.slice(3), ['a1 again in', 'a3 in']);
  assert.deepEqual([budget.bytes, budget.waiting], [192, 0]);
});

test('MODEL-19: a small one does not pass a large one that only waits for the process', (t) => {
  const { told, enter } = fixture(t);
  const first = enter('a1', 'a', '1', 100);
  enter('b1', 'b', '1', 100);
  enter('c1', 'c', '1', 50);
  enter('d1', 'd', '1', 80);
  enter('e1', 'e', '1', 10);
  assert.deepEqual(told, ['a1 in', 'b1 in', 'c1 in']);
  first();
  assert.deepEqual(told.slice(3), ['d1 in', 'e1 in']);
});

test('MODEL-19: more than may wait are refused at once; nobody waits for longer than the bound; who leaves makes room', (t) => {
  const { budget, told, enter, pass } = fixture(t);
  enter('a1', 'a', '1', 100);
  enter('a1 second', 'a', '1', 100);
  const leaves = enter('a1 third', 'a', '1', 100);
  enter('a1 fourth', 'a', '1', 100);
  assert.deepEqual(told, ['a1 in', 'a1 fourth refused']);
  leaves();
  leaves();
  assert.equal(budget.waiting, 1);
  pass(WAIT_MS - 1);
  assert.equal(budget.waiting, 1);
  pass(1);
  assert.deepEqual(told.slice(2), ['a1 second refused']);
  assert.deepEqual([budget.bytes, budget.waiting], [100, 0]);
});

test('MODEL-19: a share of which nothing is sent takes what is larger than itself', (t) => {
  const { told, enter } = fixture(t);
  const leave = enter('a1', 'a', '1', 1_000);
  enter('b1', 'b', '1', 1);
  assert.deepEqual(told, ['a1 in']);
  leave();
  assert.deepEqual(told, ['a1 in', 'b1 in']);
});
