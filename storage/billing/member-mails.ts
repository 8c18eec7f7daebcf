/**
 * Mails to the members of an organisation (LIMIT-26, LIMIT-27, LIVE-9): one row for each member and subject matter, so that each is
 * written once. A row that is `sending` was handed to the mail server, or a crash intervened: it is never sent again.
 */
import type { USAGE_MAIL_THRESHOLDS } from '../../protocol/limits.ts';
import { columns, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export type UsageMailThreshold = (typeof USAGE_MAIL_THRESHOLDS)[number];

const memberMail = columns({
  /** `2026-11 80`: a month's usage; `live app_…`: an app went live. */
  about: text,
  email: text,
  subject: text,
  text,
  attempts: integer,
});

export type MemberMail = RowOf<typeof memberMail>;
type MemberMailKey = Pick<MemberMail, 'about' | 'email'>;

export interface PlannedMails extends Pick<MemberMail, 'about' | 'subject' | 'text'> {
  readonly emails: readonly string[];
}

const shownMail = columns({
  threshold: integer.as<UsageMailThreshold>().from('CAST(substr(about, 9) AS INTEGER)'),
  email: text,
  state: text,
  createdAtMs: integer,
  sentAtMs: orNull(integer),
});

export type ShownUsageMail = RowOf<typeof shownMail>;

export function listUsageMails(db: Connection, month: string, limit: number): ShownUsageMail[] {
  const from = `FROM member_mails WHERE about IN (:month || ' 80', :month || ' 100') ORDER BY created_at_ms DESC, about, email LIMIT :limit`;
  return shownMail.all(db, from, { month, limit });
}

export function mailedAddresses(db: Connection, about: string): Set<string> {
  return new Set(memberMail.all(db, 'FROM member_mails WHERE about = :about', { about }).map(({ email }) => email));
}

export function dueMemberMails(db: Connection, nowMs: number, limit: number): MemberMail[] {
  const from = 'FROM member_mails WHERE next_attempt_at_ms <= :nowMs ORDER BY next_attempt_at_ms, about, email LIMIT :limit';
  return memberMail.all(db, from, { nowMs, limit });
}

export function nextMemberMailAtMs(db: Connection): number | null {
  return readValue(db, orNull(integer), 'SELECT min(next_attempt_at_ms) FROM member_mails WHERE next_attempt_at_ms IS NOT NULL') ?? null;
}

/** Plans mails; those that are planned already stay as they are. Returns how many are new. */
export function planMemberMails(db: Connection, { about, subject, text, emails, nowMs }: PlannedMails & { nowMs: number }): number {
  const insert = db.statement(
    `INSERT OR IGNORE INTO member_mails (about, email, subject, text, state, next_attempt_at_ms, created_at_ms)
     VALUES (:about, :email, :subject, :text, 'pending', :nowMs, :nowMs)`,
  );
  return emails.reduce((planned, email) => planned + insert.run({ about, email: email.toLowerCase(), subject, text, nowMs }).changes, 0);
}

function claimMemberMail(db: Connection, input: MemberMailKey & { nowMs: number }): boolean {
  const update = `UPDATE member_mails SET state = 'sending', attempts = attempts + 1, next_attempt_at_ms = NULL
    WHERE about = :about AND email = :email AND state = 'pending' AND next_attempt_at_ms <= :nowMs`;
  return db.statement(update).run({ ...input }).changes === 1;
}

/** Records the outcome of a claimed mail. `retryAtMs` null: it is not tried again. */
function settleMemberMail(
  db: Connection,
  input: MemberMailKey & { state: 'sent' | 'failed' | 'pending'; retryAtMs: number | null; nowMs: number },
): void {
  const { about, email, state, retryAtMs, nowMs } = input;
  const update = `UPDATE member_mails SET state = :state, next_attempt_at_ms = :retryAtMs, sent_at_ms = :sentAtMs
    WHERE about = :about AND email = :email AND state = 'sending'`;
  db.statement(update).run({ about, email, state, retryAtMs, sentAtMs: state === 'sent' ? nowMs : null });
}

/** For when no mail server can be reached: postpones all mails that are due, or gives them up after `attemptsMax`. */
function postponeMemberMails(db: Connection, input: { nowMs: number; retryAtMs: number; attemptsMax: number }): void {
  const update = `UPDATE member_mails SET attempts = attempts + 1, state = iif(attempts + 1 >= :attemptsMax, 'failed', 'pending'),
      next_attempt_at_ms = iif(attempts + 1 >= :attemptsMax, NULL, :retryAtMs)
    WHERE state = 'pending' AND next_attempt_at_ms <= :nowMs`;
  db.statement(update).run(input);
}

export const transactions = { planMemberMails, claimMemberMail, settleMemberMail, postponeMemberMails };
