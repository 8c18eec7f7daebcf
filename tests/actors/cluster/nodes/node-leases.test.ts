/** What one node of a cell does at a time, by leases in rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { inWriteOrder } from '../../../../actors/configuration/write-queue.ts';
import type { Lease } from '../../../../actors/leases.ts';
import { readLease } from '../../../../storage/organisations/leases.ts';
import { openCell } from '../cell.ts';

test('CLUSTER-21: writes of one app keep out of each other’s way at whichever nodes they arrive, and none is lost', async (t) => {
  const { a, b, organisationId, appId } = await openCell(t);
  let inside = 0;
  let most = 0;
  const done: string[] = [];
  const write = (name: string) => async () => {
    inside += 1;
    most = Math.max(most, inside);
    await nextTick();
    done.push(name);
    inside -= 1;
    return name;
  };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => [
      a.leases.forWrites(organisationId, appId)(write(`a${n}`)),
      b.leases.forWrites(organisationId, appId)(write(`b${n}`)),
    ]).flat(),
  );
  assert.equal(most, 1);
  assert.deepEqual(done.toSorted(), answers.toSorted());
  // Another app has an order of its own: it is not kept waiting while this one is held.
  await a.leases.forWrites(organisationId, appId)(() => b.leases.forWrites(organisationId, 'app_other')(async () => {}));
});

test('CLUSTER-21: with a lease the writes of a node keep the order in which they came, and one that fails lets the next one in', async (t) => {
  const { a, organisationId, appId } = await openCell(t);
  const lease = () => a.leases.forWrites(organisationId, appId);
  const order: number[] = [];
  const writes = [1, 2, 3].map((n) =>
    inWriteOrder(
      appId,
      async () => {
        order.push(n);
        if (n === 2) throw new Error('it failed');
      },
      lease(),
    ),
  );
  const outcomes = await Promise.allSettled(writes);
  assert.deepEqual(
    [order, outcomes.map(({ status }) => status)],
    [
      [1, 2, 3],
      ['fulfilled', 'rejected', 'fulfilled'],
    ],
  );
});

test('CLUSTER-21: a lease of a node that is gone is taken at once, that of a silent one when it has run out', async (t) => {
  const cell = await openCell(t);
  const { a, b, organisationId } = cell;
  const first = (await a.leases.take(organisationId, 'work')) as Lease;
  assert.equal(first.held(), true);
  assert.equal(await b.leases.take(organisationId, 'work'), null);
  cell.liveness.set(a.id, 'silent');
  assert.equal(await b.leases.take(organisationId, 'work'), null);
  cell.clock.nowMs += 30_000;
  const second = (await b.leases.take(organisationId, 'work')) as Lease;
  assert.deepEqual([first.held(), second.held()], [false, true]);
  cell.liveness.set(a.id, 'alive');
  cell.liveness.set(b.id, 'gone');
  const third = (await a.leases.take(organisationId, 'work')) as Lease;
  assert.deepEqual([second.held(), third.held()], [false, true]);
  first.release();
  second.release();
  await a.storage.write(organisationId, 'giveBackLease', { name: 'other', holder: '' });
  await b.storage.write(organisationId, 'giveBackLease', { name: 'other', holder: '' });
  assert.equal(third.held(), true, 'who lost a lease gives back nobody else’s');
  third.release();
  await a.storage.write(organisationId, 'giveBackLease', { name: 'other', holder: '' });
  assert.equal(readLease(b.storage.organisation(organisationId), 'work'), undefined);
});

test('CLUSTER-21: two pieces of work of one node have two leases: the second one is refused while the first is held', async (t) => {
  const { a, organisationId } = await openCell(t);
  const first = (await a.leases.take(organisationId, 'work')) as Lease;
  assert.equal(await a.leases.take(organisationId, 'work'), null);
  first.release();
  const second = (await a.leases.take(organisationId, 'work')) as Lease;
  assert.equal(second.held(), true, 'one that is on its way back is not waited for');
  second.release();
});

test('CLUSTER-21: a write that waits too long for another node is refused as rate_limited, those behind it right after', async (t) => {
  const { a, b, organisationId, appId } = await openCell(t, { writeWaitMs: 1_000 });
  const stuck = (await a.leases.take(organisationId, appId)) as Lease;
  const startedMs = performance.now();
  const writes = Array.from({ length: 10 }, () =>
    inWriteOrder(appId, async () => assert.fail('it is not its turn'), b.leases.forWrites(organisationId, appId)),
  );
  for (const outcome of await Promise.allSettled(writes)) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'rate_limited');
  }
  assert.ok(performance.now() - startedMs < 8_000, 'the waits are not added up: ten of a second each');
  stuck.release();
  assert.equal(await inWriteOrder(appId, async () => 'written', b.leases.forWrites(organisationId, appId)), 'written');
});
