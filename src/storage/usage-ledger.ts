/** The caps that a turn must pass and the ledger it writes, inside the transaction that opens or ends it. */
import { SANDBOX_CONVERSATIONS_PER_MONTH } from '../protocol/limits.ts';
import type { Connection } from './connection.ts';
import type { Channel } from './organisations.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What the app's settings allow (service.md "Limits", the five caps). */
export interface Admission {
  readonly messagesPerDay: number;
  /** Null: the operator set none. */
  readonly dailyModelBudgetMicroUsd: number | null;
}

export interface Charge {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicroUsd: number;
}

/** UTC day `2026-11-21`: the unit in which usage is counted. */
export function utcDay(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
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

export type Cap = 'messages_per_day' | 'sandbox_conversations' | 'daily_model_budget';

/** What the caps say of a turn: the first one that it would break, or how many turns are left today after it. */
export type Passed = { readonly cap: Cap } | { readonly cap: null; readonly dayLeft: number };

type CountedAs = Pick<TurnToAdmit, 'appId' | 'channel' | 'nowMs'>;

function turnsToday(db: Connection, turn: CountedAs): number {
  const today = db
    .statement(
      `SELECT coalesce(sum(turns), 0) AS turns FROM usage_days
       WHERE day = :day AND channel = :channel AND (:channel = 'sandbox' OR app_id = :appId)`,
    )
    .get({ day: utcDay(turn.nowMs), channel: turn.channel, appId: turn.appId });
  return today?.turns as number;
}

/** How many turns are left today, for a turn that is not counted itself. */
export function turnsLeft(db: Connection, turn: CountedAs, messagesPerDay: number): number {
  return Math.max(0, messagesPerDay - turnsToday(db, turn));
}

/**
 * Holds the turn against the caps that are counted in rows, the first one that it would break first. Messages are counted per app on a live key and per organisation
 * on a test key; sandbox conversations per organisation and month, before any row is written (rules 3, 8, 9).
 */
export function passCaps(db: Connection, turn: TurnToAdmit, admission: Admission): Passed {
  const day = utcDay(turn.nowMs);
  const counted = turnsToday(db, turn);
  if (counted >= admission.messagesPerDay) return { cap: 'messages_per_day' };
  if (turn.channel === 'sandbox' && turn.isNewConversation) {
    const month = db
      .statement(
        `SELECT coalesce(sum(conversations), 0) AS started FROM usage_days WHERE channel = 'sandbox' AND day >= :from AND day <= :day`,
      )
      .get({ from: `${day.slice(0, 7)}-01`, day });
    if ((month?.started as number) >= SANDBOX_CONVERSATIONS_PER_MONTH) return { cap: 'sandbox_conversations' };
  }
  if (admission.dailyModelBudgetMicroUsd !== null) {
    const spent = db
      .statement('SELECT coalesce(sum(cost_microusd), 0) AS spent FROM usage_days WHERE app_id = :appId AND day = :day')
      .get({ appId: turn.appId, day });
    if ((spent?.spent as number) >= admission.dailyModelBudgetMicroUsd) return { cap: 'daily_model_budget' };
  }
  return { cap: null, dayLeft: admission.messagesPerDay - counted - 1 };
}

export function countTurn(db: Connection, turn: TurnToAdmit): void {
  db.statement(
    `INSERT INTO usage_days (app_id, channel, day, turns, conversations) VALUES (:appId, :channel, :day, 1, :started)
     ON CONFLICT (app_id, channel, day) DO UPDATE SET turns = turns + 1, conversations = conversations + :started`,
  ).run({ appId: turn.appId, channel: turn.channel, day: utcDay(turn.nowMs), started: turn.isNewConversation ? 1 : 0 });
}

/** Writes what a turn cost, once: a second charge of the same turn changes nothing. */
export function recordCharge(db: Connection, turn: { turn: number; appId: string; channel: Channel; nowMs: number }, charge: Charge): void {
  const { changes } = db
    .statement(
      `INSERT OR IGNORE INTO charges (turn, app_id, channel, model, input_tokens, output_tokens, cost_microusd, at_ms)
       VALUES (:turn, :appId, :channel, :model, :inputTokens, :outputTokens, :costMicroUsd, :nowMs)`,
    )
    .run({ ...turn, ...charge });
  if (changes === 0 || charge.costMicroUsd === 0) return;
  db.statement(
    `INSERT INTO usage_days (app_id, channel, day, cost_microusd) VALUES (:appId, :channel, :day, :costMicroUsd)
     ON CONFLICT (app_id, channel, day) DO UPDATE SET cost_microusd = cost_microusd + :costMicroUsd`,
  ).run({ appId: turn.appId, channel: turn.channel, day: utcDay(turn.nowMs), costMicroUsd: charge.costMicroUsd });
}
