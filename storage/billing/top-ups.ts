/** Automatic top-ups (LIMIT-30). Credit is added in the transaction that settles the row, so one top-up is one purchase. */
import { columns, countRows, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertPurchase } from './credit-purchases.ts';

const topUp = columns({
  id: text,
  amountMicroUsd: integer.from('amount_microusd'),
  state: text.as<'pending' | 'charged' | 'manual' | 'failed'>(),
  paymentId: orNull(text),
  error: orNull(text),
  attempts: integer,
  createdAtMs: integer,
  settledAtMs: orNull(integer),
});

export type TopUp = RowOf<typeof topUp>;

/** The newest top-ups first, at most `limit`. Ids sort by time. */
export function listTopUps(db: Connection, limit: number): TopUp[] {
  return topUp.all(db, 'FROM top_ups ORDER BY id DESC LIMIT :limit', { limit });
}

const due = columns({
  id: text,
  amountMicroUsd: integer.from('amount_microusd'),
  attempts: integer,
  /**
   * Which one of the organisation's top-ups this is, from 1: the same again when later rows were lost and are made anew. Those before it have
   * ended, and none is removed; the clock, by which ids are ordered, may be set back.
   */
  ordinal: integer.from(`1 + (SELECT count(*) FROM top_ups WHERE state <> 'pending')`),
});

export type DueTopUp = RowOf<typeof due>;

/** The pending top-up that is to be tried now; there is one at most. */
export function dueTopUp(db: Connection, nowMs: number): DueTopUp | undefined {
  return due.get(db, `FROM top_ups WHERE state = 'pending' AND next_attempt_at_ms <= :nowMs`, { nowMs });
}

export function nextTopUpAtMs(db: Connection): number | null {
  return readValue(db, orNull(integer), "SELECT min(next_attempt_at_ms) FROM top_ups WHERE state = 'pending'") ?? null;
}

export function countTopUps(db: Connection, sinceMs: number): number {
  return countRows(db, 'FROM top_ups WHERE created_at_ms >= :sinceMs', { sinceMs });
}

/** False when another began since `newest` was read (null: none): credit that falls below the line twice in one moment is topped up once. */
function beginTopUp(db: Connection, input: { id: string; newest: string | null; amountMicroUsd: number; nowMs: number }): boolean {
  const { newest, ...fields } = input;
  if ((listTopUps(db, 1)[0]?.id ?? null) !== newest) return false;
  const insert = `INSERT OR IGNORE INTO top_ups (id, amount_microusd, state, next_attempt_at_ms, created_at_ms)
    VALUES (:id, :amountMicroUsd, 'pending', :nowMs, :nowMs)`;
  return db.statement(insert).run(fields).changes === 1;
}

/** Notes that the card is about to be charged, and when to ask again if no answer comes. False when the top-up is settled already. */
function attemptTopUp(db: Connection, input: { id: string; retryAtMs: number }): boolean {
  const update = `UPDATE top_ups SET attempts = attempts + 1, next_attempt_at_ms = :retryAtMs WHERE id = :id AND state = 'pending'`;
  return db.statement(update).run(input).changes === 1;
}

function postponeTopUp(db: Connection, input: { id: string; error: string }): void {
  db.statement(`UPDATE top_ups SET error = :error WHERE id = :id AND state = 'pending'`).run(input);
}

/** Ends a pending top-up; a paid one (`charged`, or `manual`) adds its credit. False when it had ended before. */
function settleTopUp(
  db: Connection,
  input: { id: string; state: 'charged' | 'manual' | 'failed'; paymentId: string | null; error: string | null; nowMs: number },
): boolean {
  const { id, nowMs } = input;
  const update = `UPDATE top_ups SET state = :state, payment_id = :paymentId, error = :error, next_attempt_at_ms = NULL, settled_at_ms = :nowMs
    WHERE id = :id AND state = 'pending'`;
  const [settled] = topUp.returning(db, update, input);
  if (settled === undefined) return false;
  if (input.state !== 'failed') insertPurchase(db, { amountMicroUsd: settled.amountMicroUsd, nowMs, topUpId: id });
  return true;
}

export const transactions = { beginTopUp, attemptTopUp, postponeTopUp, settleTopUp };
