/** What one node charges counts at the others: for credit and for the ceiling. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { Billing } from '../../../actors/billing/billing.ts';
import { createMailer } from '../../../actors/billing/mail.ts';
import { PlatformSpend } from '../../../actors/billing/platform-spend.ts';
import { isCreditExhaustedLately } from '../../../storage/billing/usage.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Cell, type CellNode, openCell } from './cell.ts';

const USD = 1_000_000;

function billingOf(t: TestContext, { log, nowMs }: Cell, { storage, others }: CellNode, ceilingUsd: number): Billing {
  const mailer = createMailer({ smtpUrl: undefined, from: 'test@localhost', outbox: storage.layout.outbox, log });
  const billing = new Billing({ storage, mailer, payments: null, platformBudgetMicroUsd: ceilingUsd * USD, log, nowMs, others });
  t.after(() => billing.close());
  return billing;
}

/** A charge in rows, as a turn's commit leaves it. */
function charge({ a, organisationId, clock }: Cell, usd: number, where = organisationId): void {
  const writer = openWriter(a.storage.layout.organisation(where));
  writer
    .statement(
      `INSERT INTO usage_days (app_id, channel, day, turns, cost_microusd) VALUES ('app_a', 'live', :day, 1, :cost)
       ON CONFLICT DO UPDATE SET cost_microusd = cost_microusd + :cost`,
    )
    .run({ day: new Date(clock.nowMs).toISOString().slice(0, 10), cost: usd * USD });
  writer.close();
}

test('CLUSTER-24: a charge at one node uses up credit and the ceiling at another, credit added there counts here', async (t) => {
  const cell = await openCell(t);
  const { organisationId, nowMs, b } = cell;
  const here = billingOf(t, cell, cell.a, 4);
  const there = billingOf(t, cell, b, 4);
  const exhausted = () => isCreditExhaustedLately(b.storage.control, b.storage.organisation(organisationId), organisationId, nowMs());
  const committed = { channel: 'live', costMicroUsd: 5 * USD, billed: true, atMs: nowMs() } as const;
  assert.deepEqual([exhausted(), there.platform.isReached(nowMs())], [false, false]);
  here.charged(organisationId, { ...committed, costMicroUsd: 3 * USD, billed: false });
  assert.equal(exhausted(), false, 'what failed draws no credit');
  charge(cell, 5);
  here.charged(organisationId, committed);
  await eventually(
    () => there.platform.isReached(nowMs()),
    undefined,
    () => 'the ceiling was not reached',
  );
  assert.deepEqual([exhausted(), here.platform.isReached(nowMs())], [true, true]);
  await cell.a.storage.write(organisationId, 'addCredit', { amountMicroUsd: 10 * USD, nowMs: nowMs() });
  here.bought(organisationId);
  await eventually(
    () => !exhausted(),
    undefined,
    () => 'the credit did not count',
  );
  here.charged(organisationId, { ...committed, costMicroUsd: 0 });
  assert.deepEqual(cell.announced, ['charged', 'charged', 'charged'], 'what costs nothing is not told');
});

test('CLUSTER-24: charges that were not heard of are found by adding up the rows again, and none counts twice', async (t) => {
  const cell = await openCell(t);
  const { nowMs } = cell;
  const autoTopUp = { enabled: false, amount_usd: 10 };
  const ids = [1, 2, 3, 4, 5, 6, 7].map((n) => `org_00000000000000000000000${n}`);
  for (const id of ids.slice(1)) {
    await cell.a.storage.writeControl('createOrganisation', { id, name: 'More', plan: 'free', members: [], autoTopUp, nowMs: nowMs() });
    await cell.a.storage.use(id);
  }
  const [first = '', last = ''] = [ids[0], ids.at(-1)];
  const spend = new PlatformSpend({ storage: cell.b.storage, log: pino({ level: 'silent' }) }, 10 * USD, nowMs());
  charge(cell, 5);
  await spend.recount(nowMs());
  // Some organisations are read, then others have their turn: meanwhile both kinds are charged.
  const recount = spend.recount(nowMs());
  charge(cell, 2, first);
  spend.add(2 * USD, nowMs(), first);
  charge(cell, 2, last);
  spend.add(2 * USD, nowMs(), last);
  await recount;
  assert.equal(spend.isReached(nowMs()), false, '9 of 10 are spent');
  spend.add(1 * USD, nowMs(), first);
  assert.equal(spend.isReached(nowMs()), true, 'neither less');
  cell.clock.nowMs += 24 * 3_600_000;
  await spend.recount(nowMs());
  assert.equal(spend.isReached(nowMs()), false, 'a new day');
});
