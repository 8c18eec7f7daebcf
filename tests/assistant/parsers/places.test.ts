/** One organisation's documents do not keep another's waiting, and links do not keep people waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Places, WAITING_PER_ASKER_MAX, type Waiter } from '../../../assistant/parsers/places.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function fixture(size: number) {
  const places = new Places(size);
  const order: string[] = [];
  const held: (() => void)[] = [];
  const take = (asker: string, inBackground = false) =>
    void places.take({ asker, inBackground }).then((giveBack) => {
      if (giveBack === undefined) return;
      order.push(asker);
      held.push(giveBack);
    });
  return { places, order, held, take };
}

test('KNOWLEDGE-17: an organisation that fills the places leaves the last one to others', async () => {
  const { order, take } = fixture(2);
  for (let at = 0; at < 5; at += 1) take('a');
  await settle();
  assert.deepEqual(order, ['a']);
  take('b');
  await settle();
  assert.deepEqual(order, ['a', 'b']);
});

test('KNOWLEDGE-17: links take no place of the last, and come after people', async () => {
  const { order, held, take } = fixture(2);
  for (const asker of ['a', 'b', 'c']) take(asker, true);
  await settle();
  assert.deepEqual(order, ['a']);
  take('d');
  take('e');
  await settle();
  assert.deepEqual(order, ['a', 'd']);
  held.shift()?.();
  await settle();
  assert.deepEqual(order, ['a', 'd', 'e']);
});

test('KNOWLEDGE-17: there are never more places than there are, everybody gets one in the end, and a place is never lost', async () => {
  const waiter = fc.record({ asker: fc.constantFrom('a', 'b', 'c'), inBackground: fc.boolean() });
  const run = async (size: number, waiters: readonly Waiter[]) => {
    const places = new Places(size);
    let [begun, refusals] = [0, 0];
    const refused = (one: Waiter) => !one.inBackground && !places.hasRoom(one);
    const all = waiters.map(async (one) => {
      if (refused(one)) {
        refusals += 1;
        return;
      }
      const giveBack = await places.take(one);
      begun += giveBack === undefined ? 0 : 1;
      assert.ok(places.taken <= size);
      await settle();
      giveBack?.();
    });
    await Promise.all(all);
    assert.equal(places.taken, 0);
    assert.equal(begun, waiters.length - refusals);
    assert.ok(begun >= Math.min(waiters.length, WAITING_PER_ASKER_MAX));
  };
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(waiter, { maxLength: 30 }), run), { numRuns: 50 });
});

test('KNOWLEDGE-17: whoever gives up waiting leaves its place to the next', async () => {
  const { places, order, held, take } = fixture(1);
  take('a');
  await settle();
  const gaveUp = new AbortController();
  const waiting = places.take({ asker: 'b', inBackground: false }, gaveUp.signal);
  take('c');
  gaveUp.abort(new Error('over'));
  await assert.rejects(waiting, /^Error: over$/);
  held.shift()?.();
  await settle();
  assert.deepEqual(order, ['a', 'c']);
});
