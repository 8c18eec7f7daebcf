/** Action calls that end without an answer, and their cards: too late (ACTION-6, CONFIRM-6), or restored from a replica. */
import { nextInvocationDeadline, readConfirmable, readDueInvocations, transactions } from '../../storage/conversations/invocations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeadlineKind } from '../deadlines.ts';
import { settledCard } from './card.ts';
import { answerLostChange, expireChange } from './invocation-step.ts';

/** Rows settled in one transaction; the next round comes at once. */
const ROWS_PER_ROUND = 200;

export function invocationDeadlines(storage: Storage, nowMs: () => number): DeadlineKind {
  return {
    next: nextInvocationDeadline,
    async settle(organisationId) {
      const db = storage.organisation(organisationId);
      const now = nowMs();
      const changes = readDueInvocations(db, now, ROWS_PER_ROUND).flatMap((row) => expireChange(row, now) ?? []);
      const settlements = changes.map((change) => ({ change, card: settledCard(db, change) }));
      if (settlements.length > 0) await storage.write(organisationId, 'settleInvocations', { settlements, nowMs: now });
    },
  };
}

/** In a restored file (REPLICA-9) each call that may have been confirmed is unknown: no person is asked again. Returns how many. */
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
