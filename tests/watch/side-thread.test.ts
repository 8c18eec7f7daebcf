/** The thread beside the event loop: calls in their order, bounded, and a death that ends one call only. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SideThread, SideThreadBusy, THREAD_IDLE_MS } from '../../watch/side-thread.ts';
import type { TestCalls } from './side-program.ts';

function thread(t: TestContext) {
  const side = new SideThread<TestCalls>(new URL('./side-program.js', import.meta.url), 'test');
  t.after(() => side.close());
  const gate = new SharedArrayBuffer(4);
  const open = () => {
    Atomics.store(new Int32Array(gate), 0, 1);
    Atomics.notify(new Int32Array(gate), 0);
  };
  return { side, gate, open };
}

test('RUN-18: a call answers what it returns and rejects with what it throws; unknown names too', async (t) => {
  const { side } = thread(t);
  assert.equal(await side.call('double', 21), 42);
  await assert.rejects(side.call('fail', 'it cannot'), /it cannot/);
  await assert.rejects(side.call('toString' as 'count', null), /no call toString/);
  await assert.rejects(side.call('double', (() => 1) as never), /could not be cloned/);
  assert.equal(await side.call('double', 4), 8);
});

test('RUN-18: calls of one key that wait are made once, and one that was begun is no answer to a later question', async (t) => {
  const { side, gate, open } = thread(t);
  const begun = side.call('wait', gate, 'key');
  const later = [1, 2, 3].map(() => side.call('count', null, 'key'));
  const other = side.call('count', null, 'other');
  open();
  assert.equal(await begun, 1);
  assert.deepEqual(await Promise.all(later), [2, 2, 2]);
  assert.equal(await other, 3);
});

test('RUN-18: more than 64 that wait are refused at once', async (t) => {
  const { side, gate, open } = thread(t);
  const begun = side.call('wait', gate);
  const waiting = Array.from({ length: 64 }, (_, at) => side.call('double', at));
  await assert.rejects(side.call('double', 1), SideThreadBusy);
  open();
  await begun;
  assert.deepEqual(
    await Promise.all(waiting),
    waiting.map((_, at) => at * 2),
  );
});

test('RUN-18: a thread that dies ends the call under way and no other', async (t) => {
  const { side } = thread(t);
  const dies = side.call('end', 7);
  const after = side.call('double', 5);
  await assert.rejects(dies, SideThreadBusy);
  assert.equal(await after, 10);
});

test('RUN-18: closing refuses what waits and what comes', async (t) => {
  const { side, gate } = thread(t);
  const begun = side.call('wait', gate);
  const waiting = side.call('double', 1);
  const refused = [assert.rejects(begun, SideThreadBusy), assert.rejects(waiting, SideThreadBusy)];
  await side.close();
  await Promise.all(refused);
  await assert.rejects(side.call('double', 1), SideThreadBusy);
});

test('RUN-18: a thread that is not called for a minute ends, and the next call starts another', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { side } = thread(t);
  assert.equal(await side.call('count', null), 1);
  t.mock.timers.tick(THREAD_IDLE_MS - 1);
  assert.equal(await side.call('count', null), 2, 'the same thread counts on');
  t.mock.timers.tick(THREAD_IDLE_MS - 1);
  assert.equal(await side.call('count', null), 3, 'each call begins the minute anew');
  t.mock.timers.tick(THREAD_IDLE_MS);
  assert.equal(await side.call('count', null), 1, 'another thread has counted nothing');
});
