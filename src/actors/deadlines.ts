/**
 * Ends what ran out of time: one timer for the whole process, set to the nearest deadline it knows of. Rows hold the
 * deadlines, and a turn that reads calls evaluates them itself; this keeps rows from staying open because nobody does.
 */
import type { Logger } from 'pino';
import { nextInvocationDeadline, readDueInvocations } from '../storage/invocations.ts';
import { organisationIds } from '../storage/organisations.ts';
import type { Storage } from '../storage/storage.ts';
import { settledCard } from './confirm-card.ts';
import { expireChange } from './invocation-step.ts';

export interface Deadlines {
  /** A row of this organisation runs out at `atMs`. */
  note(organisationId: string, atMs: number): void;
  close(): void;
}

export interface DeadlineServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

/** Rows settled in one transaction; more wait for the next round, which comes at once. */
const ROWS_PER_ROUND = 200;
/** setTimeout counts in 31 bits; looking again once an hour costs nothing. */
const SLEEP_MAX_MS = 3_600_000;
/** After a failed write: a full disk is not mended in less, and turns see the calls expired meanwhile. */
const RETRY_MS = 5_000;

export function createDeadlines({ storage, log, nowMs }: DeadlineServices): Deadlines {
  /** Nearest deadline by organisation; those without one are not in it. */
  const nearest = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let closed = false;

  const arm = () => {
    const atMs = Math.min(...nearest.values());
    if (closed || atMs >= timerAtMs) return;
    if (timer !== null) clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(ring, Math.min(Math.max(0, atMs - nowMs()), SLEEP_MAX_MS));
    timer.unref();
  };

  const settle = async (organisationId: string) => {
    const db = storage.organisation(organisationId);
    const now = nowMs();
    const changes = readDueInvocations(db, now, ROWS_PER_ROUND).flatMap((row) => expireChange(row, now) ?? []);
    const settlements = changes.map((change) => ({ change, card: settledCard(db, change) }));
    if (settlements.length > 0) await storage.write(organisationId, 'settleInvocations', { settlements, nowMs: now });
    const next = nextInvocationDeadline(db);
    if (next !== null) nearest.set(organisationId, next);
  };

  async function ring(): Promise<void> {
    timerAtMs = Number.POSITIVE_INFINITY;
    const due = [...nearest].filter(([, atMs]) => atMs <= nowMs()).map(([organisationId]) => organisationId);
    for (const organisationId of due) {
      nearest.delete(organisationId);
      try {
        await settle(organisationId);
      } catch (error) {
        if (closed) return;
        nearest.set(organisationId, nowMs() + RETRY_MS);
        log.error({ err: error, organisation_id: organisationId }, 'deadlines could not be settled');
      }
    }
    arm();
  }

  const note = (organisationId: string, atMs: number) => {
    if (atMs >= (nearest.get(organisationId) ?? Number.POSITIVE_INFINITY)) return;
    nearest.set(organisationId, atMs);
    arm();
  };

  for (const id of organisationIds(storage.control)) {
    const next = nextInvocationDeadline(storage.organisation(id));
    if (next !== null) note(id, next);
  }

  return {
    note,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
