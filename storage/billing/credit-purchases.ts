/** Credit that an organisation bought (LIMIT-22): one row a purchase, never changed afterwards. */
import { CREDIT_VALID_MONTHS } from '../../protocol/limits.ts';
import type { Connection } from '../sqlite/connection.ts';

/** The same day and time `months` later (UTC); the month's last day where it has no such day. */
export function addMonths(atMs: number, months: number): number {
  const at = new Date(atMs);
  const day = at.getUTCDate();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  const daysInMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  at.setUTCDate(Math.min(day, daysInMonth));
  return at.getTime();
}

/** Adds a purchase, one to one; returns when it expires. `topUpId` null: bought by hand; a top-up is one purchase at most. */
export function insertPurchase(db: Connection, input: { amountMicroUsd: number; nowMs: number; topUpId: string | null }): number {
  const expiresAtMs = addMonths(input.nowMs, CREDIT_VALID_MONTHS);
  const insert = `INSERT INTO credit_purchases (amount_microusd, purchased_at_ms, expires_at_ms, top_up_id)
    VALUES (:amountMicroUsd, :nowMs, :expiresAtMs, :topUpId)`;
  db.statement(insert).run({ ...input, expiresAtMs });
  return expiresAtMs;
}

function addCredit(db: Connection, input: { amountMicroUsd: number; nowMs: number }): { expiresAtMs: number } {
  return { expiresAtMs: insertPurchase(db, { ...input, topUpId: null }) };
}

export const transactions = { addCredit };
