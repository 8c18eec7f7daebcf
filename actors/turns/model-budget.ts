/**
 * The day's model budget of an app, as every round of the model is held against it (LIMIT-18):
 * before a turn opens or is tried again, and between its rounds. The round that tells a person how a confirmed write ended is asked
 * whatever was spent.
 */
import type { TurnFailure } from '../../machines/chat-turn.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import { spentToday } from '../../storage/billing/usage-ledger.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { capRefusal } from './admission.ts';
import type { TurnCommand } from './command.ts';

/** Whether the day is spent; `moreMicroUsd`: what the turn has cost so far, which is no row yet. The service's own questions have no budget. */
function isSpent({ app, purpose }: TurnCommand, db: Connection, nowMs: number, moreMicroUsd: number): boolean {
  const { dailyModelBudgetUsd } = app.settings;
  if (purpose !== 'person' || dailyModelBudgetUsd === null) return false;
  return spentToday(db, app.id, nowMs) + moreMicroUsd >= toMicroUsd(dailyModelBudgetUsd);
}

/** Before a turn asks the model at all. @throws Refusal as capRefusal when the day is spent. */
export function requireBudget(command: TurnCommand, db: Connection, nowMs: number): void {
  if (isSpent(command, db, nowMs, 0)) throw capRefusal(command, 'daily_model_budget', nowMs);
}

/** Between two rounds: what the turn ends with when the day is spent, in the words of its refusal; null while it is not. */
export function overBudget(command: TurnCommand, db: Connection, nowMs: number, moreMicroUsd: number): TurnFailure | null {
  if (!isSpent(command, db, nowMs, moreMicroUsd)) return null;
  const { message, notice } = capRefusal(command, 'daily_model_budget', nowMs);
  return { code: 'quota_exceeded', message, retryable: false, ...(notice === undefined ? {} : { notice }) };
}
