/** Expires action calls that were not answered in time, and their cards (ACTION-6, CONFIRM-6). */
import { nextInvocationDeadline, readDueInvocations } from '../../storage/conversations/invocations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeadlineKind } from '../deadlines.ts';
import { settledCard } from './card.ts';
import { expireChange } from './invocation-step.ts';

/** Rows settled in one transaction; more wait for the next round, which comes at once. */
const ROWS_PER_ROUND = 200;

/** Expires the calls of every organisation whose time is up, each with its card; `nowMs` in Unix time. */
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
