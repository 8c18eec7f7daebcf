/** More starts than a process can do: those that it takes begin soon, the others are told no at once, and the console answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { quantile } from './figures.ts';
import { overload } from './overload.ts';

/** Refusals and starts that a p99 can be told of. */
const ENOUGH = 100;

test('RUN-17: under more starts than it can do, what a process takes begins soon, and the rest is refused at once', async (t) => {
  const plan = { streams: scaled(5_000, 3_000), callsPerS: scaled(200, 50), forMs: scaled(30_000, 10_000) };
  const { started, neighbours, refused, refusedOwn, calls, loadTaken, loadRefused, machineSlowness } = await overload(t, plan);
  const p99 = (values: readonly number[]) => quantile(values, 0.99);
  assert.ok(loadRefused >= ENOUGH && refused.length >= ENOUGH / 4, `it was more than it could do: ${loadRefused} refused`);
  const within = (values: readonly number[], promisedMs: number, what: string) =>
    assert.ok(p99(values) < promisedMs * machineSlowness, `${what}: p99 ${p99(values)} ms, over ${promisedMs} × ${machineSlowness}`);
  within(refusedOwn, 50, "a refusal takes less than 50 ms of the service's own time");
  within(started, 2_000, 'a start that was let in waits at most two seconds');
  within(neighbours, 1_000, 'one of another organisation at most one');
  within(calls, 1_000, 'console and setup answer within a second');
  // To say no takes a small part of the work: who was told when to come again comes then.
  assert.ok(loadTaken > loadRefused / 4, `${loadTaken} turns were taken, ${loadRefused} refused`);
});
