/**
 * Calls in rows that were restored from a replica (REPLICA-9): it may lack that a person confirmed one and that it was made. So nobody is
 * asked again, and their outcome is unknown. Works on a file that nobody uses yet.
 */
import { readConfirmable, transactions } from '../../storage/conversations/invocations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { settledCard } from './card.ts';
import { answerLostChange } from './invocation-step.ts';

/** Rows read and changed at a time. */
const ROWS_PER_ROUND = 200;

/** Settles every call that somebody may have confirmed as unknown. Returns how many there were. */
export function loseAnswers(db: Connection, nowMs: number): number {
  let lost = 0;
  for (;;) {
    const settlements = readConfirmable(db, ROWS_PER_ROUND).flatMap((row) => {
      const change = answerLostChange(row);
      return change === null ? [] : [{ change, card: settledCard(db, change) }];
    });
    if (settlements.length === 0) return lost;
    transactions.settleInvocations(db, { settlements, nowMs });
    lost += settlements.length;
  }
}
