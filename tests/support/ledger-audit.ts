/** Reads an organisation's file and holds its sums against one another: what was charged, counted and taken from credit. */
import assert from 'node:assert/strict';
import { creditState } from '../../storage/billing/usage.ts';
import type { Storage } from '../../storage/storage.ts';

/**
 * The charges add up to the daily sums, app by app and day by day, and what came in as credit is what was spent of it
 * and what is left. The latter holds for an organisation whose plan and purchases are all of this month.
 */
export function auditLedger(
  storage: Pick<Storage, 'control' | 'organisation'>,
  organisationId: string,
  nowMs: number,
): { liveMicroUsd: number } {
  const db = storage.organisation(organisationId);
  const sum = (sql: string) => db.statement(sql).get({})?.sum as number;
  const charged = db
    .statement(
      `SELECT app_id, channel, strftime('%Y-%m-%d', at_ms / 1000, 'unixepoch') AS day, sum(cost_microusd) AS cost FROM charges
       GROUP BY 1, 2, 3 HAVING cost > 0 ORDER BY 1, 2, 3`,
    )
    .all({});
  const counted = db
    .statement('SELECT app_id, channel, day, cost_microusd AS cost FROM usage_days WHERE cost_microusd > 0 ORDER BY 1, 2, 3')
    .all({});
  if (charged.length > 0) assert.deepEqual(counted, charged, 'charges and daily sums');
  const credit = creditState(storage.control, db, organisationId, nowMs);
  const bought = sum('SELECT coalesce(sum(amount_microusd), 0) AS sum FROM credit_purchases');
  const left = credit.planLeftMicroUsd + credit.purchasedLeftMicroUsd - credit.overdrawnMicroUsd;
  assert.equal(credit.spentMicroUsd, credit.planMicroUsd + bought - left, 'credit moved is credit spent');
  const topUps = sum(`SELECT coalesce(sum(amount_microusd), 0) AS sum FROM top_ups WHERE state IN ('charged', 'manual')`);
  const topUpCredit = sum('SELECT coalesce(sum(amount_microusd), 0) AS sum FROM credit_purchases WHERE top_up_id IS NOT NULL');
  assert.equal(topUpCredit, topUps, 'a paid top-up is one purchase');
  return { liveMicroUsd: credit.spentMicroUsd };
}
