/** Credit that an organisation bought (service.md "Limits" rule 4): one row a purchase, never changed afterwards. */
import { CREDIT_VALID_MONTHS } from '../protocol/limits.ts';
import type { Connection } from './connection.ts';

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

/** Adds purchased credit, one to one; answers when it expires. */
function addCredit(db: Connection, input: { amountMicroUsd: number; nowMs: number }): { expiresAtMs: number } {
  const expiresAtMs = addMonths(input.nowMs, CREDIT_VALID_MONTHS);
  db.statement(
    'INSERT INTO credit_purchases (amount_microusd, purchased_at_ms, expires_at_ms) VALUES (:amountMicroUsd, :nowMs, :expiresAtMs)',
  ).run({ ...input, expiresAtMs });
  return { expiresAtMs };
}

export const transactions = { addCredit };
