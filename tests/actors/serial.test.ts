import assert from 'node:assert/strict';
import test from 'node:test';
import { Serial } from '../../actors/serial.ts';

/** Work that ends when the test says so. */
function held(): { readonly work: () => Promise<void>; end(error?: Error): void; readonly hasBegun: boolean } {
  let end: (error?: Error) => void = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  let hasBegun = false;
  return {
    work() {
      hasBegun = true;
      return promise;
    },
    end: (error) => end(error),
    get hasBegun() {
      return hasBegun;
    },
  };
}

test('HOUSE-9: one piece is done at a time, in their order, also after one that failed', async () => {
  const serial = new Serial();
  const [first, second] = [held(), held()];
  const failed = serial.do(first.work);
  const done = serial.do(second.work);
  await Promise.resolve();
  assert.deepEqual([first.hasBegun, second.hasBegun, serial.waiting], [true, false, 2]);
  first.end(new Error('broken'));
  await assert.rejects(failed, /broken/);
  assert.deepEqual([second.hasBegun, serial.waiting], [true, 1]);
  second.end();
  await done;
  assert.equal(serial.waiting, 0);
});

test('HOUSE-9: beyond its bound a piece is refused at once, and there is room again when one is done', async () => {
  const serial = new Serial({ bound: { max: 1, full: () => new Error('full') } });
  const first = held();
  const done = serial.do(first.work);
  assert.throws(() => serial.do(async () => {}), /full/);
  first.end();
  await done;
  assert.equal(await serial.do(async () => 'room'), 'room');
});

test('HOUSE-9: a queue is idle when the last piece is done, and done() settles then', async () => {
  let idle = 0;
  const serial = new Serial({ idle: () => (idle += 1) });
  const [first, second] = [held(), held()];
  const both = [serial.do(first.work), serial.do(second.work)];
  first.end();
  await both[0];
  assert.equal(idle, 0);
  second.end();
  await serial.done();
  await Promise.all(both);
  assert.equal(idle, 1);
});
