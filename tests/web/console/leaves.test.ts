/** How two JSON values differ, and how an event is told on one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { differencesOf, leavesOf, payloadWords } from '../../../web/console/simulator/leaves.ts';

/** As fields are named: a dot separates them. */
const names = fc.stringMatching(/^[a-z]{1,3}$/);
const plain = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string());
const contexts = fc.dictionary(names, fc.oneof(plain, fc.dictionary(names, plain)));

test('WALK-3: a difference names each value that changed, came or went, with what it was and is', () => {
  const before = { attempt: 1, waiting: { reads: 0, confirmations: 1 }, failure: null };
  const after = { attempt: 1, waiting: { reads: 2, confirmations: 1 }, failure: { code: 'internal' } };
  assert.deepEqual(differencesOf(before, after), [
    { path: 'waiting.reads', before: 0, after: 2 },
    { path: 'failure', before: null, after: undefined },
    { path: 'failure.code', before: undefined, after: 'internal' },
  ]);
});

test('WALK-3: equal values have no difference, and different ones have one', () => {
  fc.assert(
    fc.property(contexts, contexts, (one, other) => {
      assert.deepEqual(differencesOf(one, structuredClone(one)), []);
      const isSame = JSON.stringify(leavesOf(one).sort(byPath)) === JSON.stringify(leavesOf(other).sort(byPath));
      assert.equal(differencesOf(one, other).length === 0, isSame);
    }),
  );
});

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}

test('WALK-3: a payload is told on one line, without its type', () => {
  assert.equal(payloadWords({ type: 'turn.stop' }), '');
  const open = { type: 'turn.open', serverCalls: 1, waiting: { reads: 0, confirmations: 0 } };
  assert.equal(payloadWords(open), 'serverCalls 1, waiting.reads 0, waiting.confirmations 0');
});
