/**
 * Mails about an organisation's usage (LIMIT-26, LIMIT-27): one row for each member, threshold and month, so that
 * each is written once. A row that is `sending` was handed to the mail server, or a crash intervened: it is never sent again.
 */
import type { USAGE_MAIL_THRESHOLDS } from '../../protocol/limits.ts';
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export type UsageMailThreshold = (typeof USAGE_MAIL_THRESHOLDS)[number];

const usageMail = columns({
  /** `2026-11`, UTC. */
  month: text,
  threshold: integer.as<UsageMailThreshold>(),
  /** Lower case: one mailbox is one row. */
  email: text,
  attempts: integer,
});

export type UsageMail = RowOf<typeof usageMail>;
export type UsageMailKey = Omit<UsageMail, 'attempts'>;

const shownMail = columns({
  threshold: integer.as<UsageMailThreshold>(),
  email: text,
  state: text,
  createdAtMs: integer,
  sentAtMs: orNull(integer),
});

export type ShownUsageMail = RowOf<typeof shownMail>;

/** Up to `limit` mails of a month, those planned last first. */
export function listUsageMails(db: Connection, month: string, limit: number): ShownUsageMail[] {
  const from = 'FROM usage_mails WHERE month = :month ORDER BY created_at_ms DESC, threshold DESC, email LIMIT :limit';
  return shownMail.all(db, from, { month, limit });
}

/** Addresses that have their row of this month and threshold. */
export function mailedAddresses(db: Connection, month: string, threshold: UsageMailThreshold): Set<string> {
  const mails = usageMail.all(db, 'FROM usage_mails WHERE month = :month AND threshold = :threshold', { month, threshold });
  return new Set(mails.map(({ email }) => email));
}

/** Mails that are to be sent now, soonest due first, at most `limit`. */
export function dueUsageMails(db: Connection, nowMs: number, limit: number): UsageMail[] {
  return usageMail.all(
    db,
    'FROM usage_mails WHERE next_attempt_at_ms <= :nowMs ORDER BY next_attempt_at_ms, month, threshold, email LIMIT :limit',
    { nowMs, limit },
  );
}

const nextAttempt = columns({ atMs: orNull(integer).from('min(next_attempt_at_ms)') });

/** When the next mail is due; null when none waits. */
export function nextUsageMailAtMs(db: Connection): number | null {
  return nextAttempt.get(db, 'FROM usage_mails WHERE next_attempt_at_ms IS NOT NULL')?.atMs ?? null;
}

/** Plans mails; those that are planned already stay as they are. Returns how many are new. */
function planUsageMails(
  db: Connection,
  input: { month: string; threshold: UsageMailThreshold; emails: readonly string[]; nowMs: number },
): number {
  const { month, threshold, nowMs } = input;
  const insert = db.statement(
    `INSERT OR IGNORE INTO usage_mails (month, threshold, email, state, next_attempt_at_ms, created_at_ms)
     VALUES (:month, :threshold, :email, 'pending', :nowMs, :nowMs)`,
  );
  return input.emails.reduce((planned, email) => planned + insert.run({ month, threshold, email, nowMs }).changes, 0);
}

/** Claims a mail for sending; false when another node has claimed it, or it is not due. */
function claimUsageMail(db: Connection, input: UsageMailKey & { nowMs: number }): boolean {
  const { changes } = db
    .statement(
      `UPDATE usage_mails SET state = 'sending', attempts = attempts + 1, next_attempt_at_ms = NULL
       WHERE month = :month AND threshold = :threshold AND email = :email AND state = 'pending' AND next_attempt_at_ms <= :nowMs`,
    )
    .run({ ...input });
  return changes === 1;
}

/** Records the outcome of a claimed mail. `retryAtMs` null: it is not tried again. */
function settleUsageMail(
  db: Connection,
  input: UsageMailKey & { state: 'sent' | 'failed' | 'pending'; retryAtMs: number | null; nowMs: number },
): void {
  const { month, threshold, email, state, retryAtMs, nowMs } = input;
  db.statement(
    `UPDATE usage_mails SET state = :state, next_attempt_at_ms = :retryAtMs, sent_at_ms = :sentAtMs
     WHERE month = :month AND threshold = :threshold AND email = :email AND state = 'sending'`,
  ).run({ month, threshold, email, state, retryAtMs, sentAtMs: state === 'sent' ? nowMs : null });
}

/** For when no mail server can be reached: postpones all mails that are due, or gives them up after `attemptsMax`. */
function postponeUsageMails(db: Connection, input: { nowMs: number; retryAtMs: number; attemptsMax: number }): void {
  db.statement(
    `UPDATE usage_mails SET attempts = attempts + 1, state = iif(attempts + 1 >= :attemptsMax, 'failed', 'pending'),
       next_attempt_at_ms = iif(attempts + 1 >= :attemptsMax, NULL, :retryAtMs)
     WHERE state = 'pending' AND next_attempt_at_ms <= :nowMs`,
  ).run(input);
}

export const transactions = { planUsageMails, claimUsageMail, settleUsageMail, postponeUsageMails };
