import assert from 'node:assert/strict';
import test from 'node:test';
import { OVERTAKEN, retried } from '../../actors/retried.ts';

const exhausted = () => new Error('gave up');

test('HOUSE-11: an attempt that was overtaken is made again, after its pause, until one comes through', async () => {
  const paused: number[] = [];
  let attempts = 0;
  const pauseMs = (attempt: number) => {
    paused.push(attempt);
    return 0;
  };
  const value = await retried({ max: 5, pauseMs, exhausted }, async () => (++attempts < 3 ? OVERTAKEN : 'through'));
  assert.deepEqual([value, attempts, paused], ['through', 3, [2, 3]]);
});

test('HOUSE-11: after its last attempt it says that it gave up', async () => {
  let attempts = 0;
  const overtaken = async () => {
    attempts += 1;
    return OVERTAKEN;
  };
  await assert.rejects(retried({ max: 2, exhausted }, overtaken), /gave up/);
  assert.equal(attempts, 2);
});

test('HOUSE-11: what an attempt throws is thrown, and no other one is made', async () => {
  let attempts = 0;
  const fails = async () => {
    attempts += 1;
    throw new Error('broken');
  };
  await assert.rejects(retried({ max: 2, exhausted }, fails), /broken/);
  assert.equal(attempts, 1);
});
