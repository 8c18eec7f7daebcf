import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Readers } from '../../actors/readers.ts';

test('HOUSE-10: however often something is told within a loop tick, each reader is woken once, at its end', async () => {
  const woken: string[] = [];
  const readers = new Readers({ waking: () => woken.push('waking'), woken: () => woken.push('woken') });
  readers.add(() => woken.push('a'));
  const leaveB = readers.add(() => woken.push('b'));
  readers.wake();
  readers.wake();
  assert.deepEqual(woken, []);
  await nextTick();
  assert.deepEqual(woken, ['waking', 'a', 'b', 'woken']);
  leaveB();
  readers.wake();
  await nextTick();
  assert.deepEqual(woken.slice(4), ['waking', 'a', 'woken']);
});

test('HOUSE-10: something told while readers are woken wakes them once more, in the next loop tick', async () => {
  let wakes = 0;
  const readers = new Readers();
  readers.add(() => {
    wakes += 1;
    if (wakes === 1) readers.wake();
  });
  readers.wake();
  await nextTick();
  assert.equal(wakes, 1);
  await nextTick();
  assert.equal(wakes, 2);
});

test('HOUSE-10: the first that comes and the last that leaves are told of, however often one leaves', () => {
  const told: string[] = [];
  const readers = new Readers({ came: () => told.push('came'), left: () => told.push('left') });
  const leaveA = readers.add(() => {});
  const leaveB = readers.add(() => {});
  leaveA();
  leaveA();
  assert.deepEqual([told, readers.count], [['came'], 1]);
  leaveB();
  leaveB();
  assert.deepEqual([told, readers.count], [['came', 'left'], 0]);
});

test('HOUSE-10: readers lag while none of them takes what is told, and no longer when one does or another one comes', () => {
  const told: boolean[] = [];
  const readers = new Readers({ lag: (isLagging) => told.push(isLagging) });
  const [a, b] = [{}, {}];
  readers.add(() => {});
  const leaveB = readers.add(() => {});
  readers.slow(a, true);
  assert.deepEqual(told, []);
  readers.slow(b, true);
  assert.deepEqual([told, readers.isLagging], [[true], true]);
  readers.slow(b, false);
  leaveB();
  assert.deepEqual(told, [true, false, true]);
  readers.add(() => {});
  assert.deepEqual(told, [true, false, true, false]);
});
