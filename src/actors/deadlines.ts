/**
 * Ends what ran out of time: one timer for the whole process, set to the nearest deadline it knows of. Rows hold the
 * deadlines, and whoever reads them evaluates them; this keeps rows from staying open because nobody reads them.
 */
import type { Logger } from 'pino';
import type { Connection } from '../storage/connection.ts';
import { organisationIds } from '../storage/organisations.ts';
import type { Storage } from '../storage/storage.ts';

/** One kind of rows that run out. */
export interface DeadlineKind {
  /** When the next row of an organisation runs out, null when none does. */
  next(db: Connection): number | null;
  /** Ends the rows that are due; what it leaves is due at once and asked for again. */
  settle(organisationId: string): Promise<void>;
}

export interface Deadlines {
  /** A row of this organisation runs out at `atMs`. */
  note(organisationId: string, atMs: number): void;
  /** Begins to watch rows of these kinds, those from before a restart too. */
  watch(kinds: readonly DeadlineKind[]): void;
  close(): void;
}

export interface DeadlineServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

/** setTimeout counts in 31 bits; looking again once an hour costs nothing. */
const SLEEP_MAX_MS = 3_600_000;
/** After a failed write: a full disk is not mended in less, and readers see the rows expired meanwhile. */
const RETRY_MS = 5_000;

export function createDeadlines({ storage, log, nowMs }: DeadlineServices): Deadlines {
  /** Nearest deadline by organisation; those without one are not in it. */
  const nearest = new Map<string, number>();
  let kinds: readonly DeadlineKind[] = [];
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

  const note = (organisationId: string, atMs: number) => {
    if (atMs >= (nearest.get(organisationId) ?? Number.POSITIVE_INFINITY)) return;
    nearest.set(organisationId, atMs);
    arm();
  };

  const look = (organisationId: string) => {
    for (const kind of kinds) {
      const next = kind.next(storage.organisation(organisationId));
      if (next !== null) note(organisationId, next);
    }
  };

  async function ring(): Promise<void> {
    timerAtMs = Number.POSITIVE_INFINITY;
    const due = [...nearest].filter(([, atMs]) => atMs <= nowMs()).map(([organisationId]) => organisationId);
    for (const organisationId of due) {
      nearest.delete(organisationId);
      try {
        for (const kind of kinds) await kind.settle(organisationId);
        look(organisationId);
      } catch (error) {
        if (closed) return;
        nearest.set(organisationId, nowMs() + RETRY_MS);
        log.error({ err: error, organisation_id: organisationId }, 'deadlines could not be settled');
      }
    }
    arm();
  }

  return {
    note,
    watch(more) {
      kinds = [...kinds, ...more];
      for (const id of organisationIds(storage.control)) look(id);
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
