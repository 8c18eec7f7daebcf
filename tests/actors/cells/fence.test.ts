import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import pino from 'pino';
import { raiseFence, TAKE_OVER_WAIT_MS, TERM_LEASE_MS, type Verdict } from '../../../actors/cells/fence.ts';
import type { TermClaim } from '../../../actors/cells/term-claims.ts';
import { createConditions } from '../../../storage/health/conditions.ts';
import type { CellTerm } from '../../../storage/moving/cell-term.ts';
import { WriteLease } from '../../../storage/sqlite/write-lease.ts';

const LOOK_MS = 2_000;
const CLAIM: TermClaim = { host: 'here', data_dir: '/data', at_ms: 1 };

/** Two places that answer as they are told, and a clock that is moved. */
function world(t: TestContext, { isReplicated = true } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000;
  const claimed = new Map<number, TermClaim>();
  const is = { redisUp: true, replica: 'newest' as Verdict | 'hangs' };
  let asked = 0;
  let begun = 0;
  const away = () => {
    if (!is.redisUp) throw new Error('Redis is away');
  };
  const log = pino({ level: 'silent' });
  const conditions = createConditions(log, () => nowMs);
  const lease = new WriteLease(undefined, () => ({ wallMs: nowMs, steadyMs: nowMs }));
  const claims = {
    async read({ term }: CellTerm) {
      away();
      return claimed.get(term);
    },
    async make({ term }: CellTerm, claim: TermClaim) {
      away();
      claimed.set(term, claimed.get(term) ?? claim);
      return claim;
    },
  };
  const askReplica = async (): Promise<Verdict> => {
    asked += 1;
    return is.replica === 'hangs' ? new Promise(() => {}) : is.replica;
  };
  const fence = raiseFence({
    ...{ own: { cell: 'a', term: 1 }, claim: CLAIM, claims, lease, conditions, log },
    askReplica: isReplicated ? askReplica : undefined,
  });
  t.after(() => fence.close());
  fence.whenHeld(() => {
    begun += 1;
  });
  return {
    ...{ is, claimed, fence },
    asked: () => asked,
    begun: () => begun,
    conditions: () => conditions.list().map(({ name }) => name),
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= LOOK_MS) {
        nowMs += Math.min(left, LOOK_MS);
        t.mock.timers.tick(Math.min(left, LOOK_MS));
        await tick();
      }
    },
  };
}

test('CELL-17: nothing is written before the first look, and work begins once', async (t) => {
  const { fence, begun, pass } = world(t);
  assert.deepEqual([fence.holds, begun()], [false, 0]);
  await fence.looked;
  assert.deepEqual([fence.holds, begun()], [true, 1]);
  await pass(60_000);
  assert.deepEqual([fence.holds, begun()], [true, 1]);
});

for (const stays of ['Redis', 'the address of the replica'] as const) {
  test(`CELL-17: ${stays} alone is enough`, async (t) => {
    const { is, fence, conditions, pass } = world(t);
    await fence.looked;
    if (stays === 'Redis') is.replica = 'silent';
    else is.redisUp = false;
    await pass(120_000);
    assert.deepEqual([fence.holds, conditions()], [true, []]);
  });
}

test('CELL-17: without either, writes stop before a take-over has waited, and go on when one is back', async (t) => {
  const { is, fence, conditions, pass } = world(t);
  await fence.looked;
  is.replica = 'silent';
  is.redisUp = false;
  await pass(TERM_LEASE_MS - 1);
  assert.equal(fence.holds, true);
  await pass(TAKE_OVER_WAIT_MS - TERM_LEASE_MS);
  assert.deepEqual([fence.holds, conditions()], [false, ['term_unproved']]);
  is.redisUp = true;
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, conditions()], [true, []]);
});

test('CELL-17: a Redis that lost its claims proves nothing, until the other place has', async (t) => {
  const { is, claimed, fence, pass } = world(t);
  await fence.looked;
  assert.deepEqual([...claimed.keys()], [1]);
  claimed.clear();
  is.replica = 'silent';
  await pass(TERM_LEASE_MS + LOOK_MS);
  assert.deepEqual([fence.holds, claimed.size], [false, 0]);
  is.replica = 'newest';
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, [...claimed.keys()]], [true, [1]]);
});

for (const where of ['Redis', 'the address of the replica'] as const) {
  test(`CELL-17: once ${where} says that a later term is claimed, it is for good`, async (t) => {
    const { is, claimed, fence, conditions, pass } = world(t);
    await fence.looked;
    if (where === 'Redis') claimed.set(2, CLAIM);
    else is.replica = 'overtaken';
    await pass(LOOK_MS);
    assert.deepEqual([fence.holds, conditions()], [false, ['fenced']]);
    claimed.delete(2);
    is.replica = 'newest';
    await pass(60_000);
    assert.deepEqual([fence.holds, conditions()], [false, ['fenced']]);
  });
}

test('CELL-17: a cell without a replica writes while Redis is away, and is fenced by a claim', async (t) => {
  const { is, claimed, fence, conditions, pass } = world(t, { isReplicated: false });
  is.redisUp = false;
  await fence.looked;
  await pass(60_000);
  assert.equal(fence.holds, true);
  is.redisUp = true;
  claimed.set(2, CLAIM);
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, conditions()], [false, ['fenced']]);
});

test('CELL-17: an address that hangs is asked one question at a time, and Redis counts meanwhile', async (t) => {
  const { is, fence, asked, pass } = world(t);
  await fence.looked;
  is.replica = 'hangs';
  await pass(120_000);
  assert.deepEqual([fence.holds, asked()], [true, 2]);
});
