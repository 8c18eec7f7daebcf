/**
 * Ends what ran out of time: one timer for the whole process, set to the nearest deadline it knows of. Rows hold the
 * deadlines, and whoever reads them evaluates them; this keeps rows from staying open because nobody reads them.
 *
 * Of a cell each node knows what it noted itself, and finds what others noted by looking at the organisations in turn. Ending a
 * row is a compare-and-set, so it does no harm that two try; the one that noted it has half a second's lead.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import { listOrganisations, organisationIds } from '../storage/organisations/organisations.ts';
import type { Connection } from '../storage/sqlite/connection.ts';
import type { Storage } from '../storage/storage.ts';
import { section } from '../watch/sections.ts';
import type { Announcer } from './announcements.ts';
import { attempt, type EachServices, forEachOrganisationSync } from './for-each-organisation.ts';

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
  /** Looks at all organisations again, a few at a time: after a node was lost, which alone may have known of a deadline. */
  lookAgain(): Promise<void>;
  close(): void;
}

export interface DeadlineServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  /** Time that passes, whatever the time of day is set to. */
  monotonicMs?(): number;
  /** They note deadlines of the same rows. */
  readonly others: Announcer;
}

/** setTimeout counts in 31 bits; looking again once an hour costs nothing. */
const SLEEP_MAX_MS = 3_600_000;
/** After a failed write: a full disk is not mended in less, and readers see the rows expired meanwhile. */
const RETRY_MS = 5_000;
/** Of several nodes: organisations looked at in a second, some 2 ms of work at worst; 1,200 of them in a minute. */
const LOOKED_AT_PER_S = 20;
const LOOK_EVERY_MS = 1_000;
/** Of several nodes: whoever noted a deadline ends it first. */
const LEAD_MS = 500;
/** A timer counts time that passes; one of these looks whether the time of day went with it. */
const CLOCK_LOOK_MS = 500;
/** The time of day is corrected by less than that all the time. */
const CLOCK_JUMP_MS = 250;

/** Calls `onJump` when the time of day was set. What it gives ends the watch. */
function watchClock(log: Logger, nowMs: () => number, monotonicMs: () => number, onJump: () => void): () => void {
  let aheadMs = nowMs() - monotonicMs();
  const look = () => {
    const nowAheadMs = nowMs() - monotonicMs();
    if (Math.abs(nowAheadMs - aheadMs) < CLOCK_JUMP_MS) return;
    log.info({ by_ms: Math.round(nowAheadMs - aheadMs) }, 'the system clock was changed: checking all deadlines again');
    aheadMs = nowAheadMs;
    onJump();
  };
  const looks = setInterval(look, CLOCK_LOOK_MS).unref();
  return () => clearInterval(looks);
}

/** Calls `lookAt` with the next few organisations each time that what it gives is called, beginning again after the last one. */
function someAfterSome(storage: Storage, lookAt: (ids: readonly string[]) => void): () => void {
  let lookedAt = '';
  return () => {
    const some = listOrganisations(storage.control, lookedAt, LOOKED_AT_PER_S);
    lookAt(some.map(({ id }) => id));
    lookedAt = some.length < LOOKED_AT_PER_S ? '' : (some.at(-1)?.id ?? '');
  };
}

export function createDeadlines({ storage, log, nowMs, monotonicMs = () => performance.now(), others }: DeadlineServices): Deadlines {
  /** Nearest deadline by organisation; those without one are not in it. */
  const nearest = new Map<string, number>();
  let kinds: readonly DeadlineKind[] = [];
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let closed = false;
  const leadMs = others.isAlone ? 0 : LEAD_MS;

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
      if (next !== null) note(organisationId, next > nowMs() ? next + leadMs : next);
    }
  };

  /** One that cannot be read must not keep the others from being looked at; it is looked at again. */
  const lookNamed = (organisationId: string) => section('deadlines are looked at', organisationId, () => look(organisationId));
  const lookAt = (ids: Iterable<string>) => {
    for (const id of forEachOrganisationSync({ storage, log }, 'looking at deadlines', lookNamed, ids)) note(id, nowMs() + RETRY_MS);
  };
  const unwatchRows = others.lookEvery(LOOK_EVERY_MS, someAfterSome(storage, lookAt));

  // What ran out while the clock was ahead is ended in rows at once: somebody may have been told, and it is to stay when the clock is put right.
  const unwatchClock = watchClock(log, nowMs, monotonicMs, () => {
    timerAtMs = Number.POSITIVE_INFINITY;
    arm();
  });

  const quietWhenClosed: EachServices['log'] = { error: (facts: object, text?: string) => closed || log.error(facts, text) };

  async function ring(): Promise<void> {
    timerAtMs = Number.POSITIVE_INFINITY;
    const due = [...nearest].filter(([, atMs]) => atMs <= nowMs()).map(([organisationId]) => organisationId);
    for (const organisationId of due) {
      nearest.delete(organisationId);
      const settled = async () => {
        for (const kind of kinds) await kind.settle(organisationId);
        look(organisationId);
      };
      const outcome = await attempt({ storage, log: quietWhenClosed }, organisationId, 'settling deadlines', settled);
      if (closed) return;
      if (outcome !== 'done') nearest.set(organisationId, nowMs() + RETRY_MS);
    }
    arm();
  }

  return {
    note,
    watch(more) {
      kinds = [...kinds, ...more];
      lookAt(organisationIds(storage.control));
    },
    async lookAgain() {
      let looked = 0;
      for (const id of organisationIds(storage.control)) {
        if (closed) return;
        lookAt([id]);
        looked += 1;
        if (looked % LOOKED_AT_PER_S === 0) await nextTick();
      }
    },
    close() {
      closed = true;
      unwatchRows();
      unwatchClock();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
