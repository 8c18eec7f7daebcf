/** More starts than a process can do: those that it takes begin soon, the others are told no at once, and the console answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { quantile } from './figures.ts';
import { overload } from './overload.ts';

test('decisions §7: under more starts than it can do, what a process takes begins soon, and the rest is refused at once', async (t) => {
  const { started, refused, calls, loadRefused } = await overload(t, { streams: scaled(2_000, 1_000), forMs: scaled(20_000, 8_000) });
  assert.ok(started.length + refused.length > 0 && loadRefused > 0, 'it was more than it could do');
  assert.ok(started.length === 0 || quantile(started, 0.99) < 2_000, 'a start that was let in waits at most two seconds');
  assert.ok(quantile(calls, 0.99) < 1_000, 'console and setup answer within a second');
});
