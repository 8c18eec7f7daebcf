/** The caps that a turn must pass and the ledger it writes, inside the transaction that opens or ends it. */
import { SANDBOX_CONVERSATIONS_PER_MONTH } from '../../protocol/limits.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, insert, integer, type RowOf, readValue } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What the app's settings allow (LIMIT-11, LIMIT-13, LIMIT-18). */
export interface Admission {
  readonly messagesPerDay: number;
  readonly dailyModelBudgetMicroUsd: number | null;
  /** Null: the turn is not counted by its address. */
  readonly sender: Sender | null;
}

/** An address, and how many unsigned turns it may send a day (LIMIT-7). */
export interface Sender {
  /** A keyed digest, so that the file does not reveal who used the service. */
  readonly address: string;
  readonly messagesPerDay: number;
}

export interface Charge extends Spent {
  readonly model: string;
  /** The attempt succeeded, so it draws credit. A failed one still counts towards the day's budget and ceiling (LIMIT-17). */
  readonly billed: boolean;
}

const spent = columns({ inputTokens: integer, outputTokens: integer, costMicroUsd: integer.from('cost_microusd') });

export type Spent = RowOf<typeof spent>;

/** Null: nothing was spent, or it is not known yet. */
export function spentOnTurn(db: Connection, turn: number): Spent | null {
  const attempts = ['charges', 'failed_attempts'].flatMap((table) => spent.all(db, `FROM ${table} WHERE turn = :turn`, { turn }));
  if (attempts.length === 0) return null;
  const sum = (amount: (one: Spent) => number) => attempts.reduce((total, one) => total + amount(one), 0);
  return {
    inputTokens: sum((one) => one.inputTokens),
    outputTokens: sum((one) => one.outputTokens),
    costMicroUsd: sum((one) => one.costMicroUsd),
  };
}

/** The day that was asked for last: a turn asks six times, and a Date takes longer than some of its statements. */
let lastDay = { number: Number.NaN, name: '' };

/** UTC day `2026-11-21`: the unit in which usage is counted. */
export function utcDay(nowMs: number): string {
  const number = Math.floor(nowMs / DAY_MS);
  if (number !== lastDay.number) lastDay = { number, name: new Date(nowMs).toISOString().slice(0, 10) };
  return lastDay.name;
}

/** The midnight (UTC) after `nowMs`: when what is counted by the day starts again. */
export function nextUtcDayMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

interface TurnToAdmit {
  readonly appId: string;
  readonly channel: Channel;
  readonly isNewConversation: boolean;
  readonly nowMs: number;
}

export type Cap = 'messages_per_day' | 'messages_per_day_per_address' | 'sandbox_conversations' | 'daily_model_budget';

type Passed = { readonly cap: Cap } | { readonly cap: null; readonly dayLeft: number };

type CountedAs = Pick<TurnToAdmit, 'appId' | 'channel' | 'nowMs'>;

function turnsToday(db: Connection, turn: CountedAs): number {
  const select = `SELECT coalesce(sum(turns), 0) FROM usage_days WHERE day = :day AND channel = :channel AND (:channel = 'sandbox' OR app_id = :appId)`;
  return readValue(db, integer, select, { day: utcDay(turn.nowMs), channel: turn.channel, appId: turn.appId }) ?? 0;
}

function addressTurnsToday(db: Connection, turn: CountedAs, address: string): number {
  const select = `SELECT coalesce(sum(turns), 0) FROM address_days
    WHERE day = :day AND channel = :channel AND address = :address AND (:channel = 'sandbox' OR app_id = :appId)`;
  return readValue(db, integer, select, { day: utcDay(turn.nowMs), channel: turn.channel, address, appId: turn.appId }) ?? 0;
}

/** How many turns are left today, for a turn that is not counted itself. `ofApp`: what is left of its app's, where that is known. */
export function turnsLeft(
  db: Connection,
  turn: CountedAs,
  { messagesPerDay, sender }: Pick<Admission, 'messagesPerDay' | 'sender'>,
  ofApp: number = messagesPerDay - turnsToday(db, turn),
): number {
  const ofAddress = sender === null ? Infinity : sender.messagesPerDay - addressTurnsToday(db, turn, sender.address);
  return Math.max(0, Math.min(ofApp, ofAddress));
}

/** Model spend of the app on the UTC day of `nowMs`, live and test, in millionths of a dollar. Failed attempts count. */
export function spentToday(db: Connection, appId: string, nowMs: number): number {
  return (
    readValue(
      db,
      integer,
      'SELECT coalesce(sum(cost_microusd + failed_microusd), 0) FROM usage_days WHERE app_id = :appId AND day = :day',
      { appId, day: utcDay(nowMs) },
    ) ?? 0
  );
}

export function organisationSpentToday(db: Connection, nowMs: number): number {
  return (
    readValue(db, integer, 'SELECT coalesce(sum(cost_microusd + failed_microusd), 0) FROM usage_days WHERE day = :day', {
      day: utcDay(nowMs),
    }) ?? 0
  );
}

/** Messages count per app on a live key and per organisation on a test key, sandbox conversations per organisation and month. */
export function passCaps(db: Connection, turn: TurnToAdmit, admission: Admission): Passed {
  const day = utcDay(turn.nowMs);
  const ofApp = admission.messagesPerDay - turnsToday(db, turn);
  if (ofApp <= 0) return { cap: 'messages_per_day' };
  const left = turnsLeft(db, turn, admission, ofApp);
  if (left === 0) return { cap: 'messages_per_day_per_address' };
  if (turn.channel === 'sandbox' && turn.isNewConversation) {
    const select = `SELECT coalesce(sum(conversations), 0) FROM usage_days WHERE channel = 'sandbox' AND day >= :from AND day <= :day`;
    const started = readValue(db, integer, select, { from: `${day.slice(0, 7)}-01`, day }) ?? 0;
    if (started >= SANDBOX_CONVERSATIONS_PER_MONTH) return { cap: 'sandbox_conversations' };
  }
  if (admission.dailyModelBudgetMicroUsd !== null) {
    if (spentToday(db, turn.appId, turn.nowMs) >= admission.dailyModelBudgetMicroUsd) return { cap: 'daily_model_budget' };
  }
  return { cap: null, dayLeft: left - 1 };
}

export function countTurn(db: Connection, turn: TurnToAdmit, { sender }: Pick<Admission, 'sender'>): void {
  if (sender !== null) countAddress(db, turn, sender.address);
  const insert = `INSERT INTO usage_days (app_id, channel, day, turns, conversations) VALUES (:appId, :channel, :day, 1, :started)
    ON CONFLICT (app_id, channel, day) DO UPDATE SET turns = turns + 1, conversations = conversations + :started`;
  db.statement(insert).run({ appId: turn.appId, channel: turn.channel, day: utcDay(turn.nowMs), started: turn.isNewConversation ? 1 : 0 });
}

/** A day has at most as many of these rows as counted turns. A new row of a day deletes those of earlier days. */
function countAddress(db: Connection, turn: TurnToAdmit, address: string): void {
  const day = utcDay(turn.nowMs);
  const update =
    'UPDATE address_days SET turns = turns + 1 WHERE day = :day AND channel = :channel AND address = :address AND app_id = :appId';
  const { changes } = db.statement(update).run({ day, channel: turn.channel, address, appId: turn.appId });
  if (changes === 1) return;
  db.statement('DELETE FROM address_days WHERE day < :day').run({ day });
  insert(db, 'address_days', { day, channel: turn.channel, address, appId: turn.appId, turns: 1 });
}

interface ChargedAttempt extends CountedAs {
  readonly turn: number;
  readonly attempt: number;
}

/** Writes the cost of a turn that succeeded, or of one failed attempt. Idempotent. */
export function recordCharge(
  db: Connection,
  { turn, attempt, appId, channel, nowMs }: ChargedAttempt,
  { billed, costMicroUsd, ...asked }: Charge,
): void {
  const row = { turn, appId, channel, costMicroUsd, nowMs, ...asked };
  const { changes } = billed
    ? db
        .statement(
          `INSERT OR IGNORE INTO charges (turn, app_id, channel, model, input_tokens, output_tokens, cost_microusd, at_ms)
           VALUES (:turn, :appId, :channel, :model, :inputTokens, :outputTokens, :costMicroUsd, :nowMs)`,
        )
        .run(row)
    : db
        .statement(
          `INSERT OR IGNORE INTO failed_attempts (turn, attempt, app_id, channel, model, input_tokens, output_tokens, cost_microusd, at_ms)
           VALUES (:turn, :attempt, :appId, :channel, :model, :inputTokens, :outputTokens, :costMicroUsd, :nowMs)`,
        )
        .run({ ...row, attempt });
  if (changes === 0 || costMicroUsd === 0) return;
  const insert = `INSERT INTO usage_days (app_id, channel, day, cost_microusd, failed_microusd) VALUES (:appId, :channel, :day, :cost, :failed)
    ON CONFLICT (app_id, channel, day) DO UPDATE SET cost_microusd = cost_microusd + :cost, failed_microusd = failed_microusd + :failed`;
  db.statement(insert).run({ appId, channel, day: utcDay(nowMs), cost: billed ? costMicroUsd : 0, failed: billed ? 0 : costMicroUsd });
}
