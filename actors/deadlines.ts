/**
 * Ends what has expired, by one timer: every read evaluates deadlines, this ends rows that are not read. A node finds the deadlines of
 * others by checking files in use in rotation. Ending a row is a compare-and-set, so two nodes may try.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import { usedOrganisations, usedOrganisationsAfter } from '../storage/organisations/organisation-uses.ts';
import type { Connection } from '../storage/sqlite/connection.ts';
import type { Storage } from '../storage/storage.ts';
import { section } from '../watch/sections.ts';
import type { Announcer } from './announcements.ts';
import { attempt, type EachServices, forEachOrganisationSync } from './for-each-organisation.ts';

export interface DeadlineKind {
  next(db: Connection): number | null;
  /** Ends the rows that are due. Rows that it leaves are due at once, and it is called again. */
  settle(organisationId: string): Promise<void>;
}

/** The earlier of two deadlines; null: there is none. */
export function nearerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

export interface DeadlineServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  monotonicMs?(): number;
  /** The other nodes, which note deadlines of the same rows. */
  readonly others: Announcer;
}

/** setTimeout takes 31 bits; one check an hour costs nothing. */
const SLEEP_MAX_MS = 3_600_000;
/** After a failed write: making room on a full disk takes longer, and readers see the rows as expired meanwhile. */
const RETRY_MS = 5_000;
/** With several nodes: organisations in use that are checked in a second, at most some 2 ms of work; 1,200 in a minute. */
const LOOKED_AT_PER_S = 20;
const LOOK_EVERY_MS = 1_000;
/** With several nodes: the lead of the node that noted a deadline. */
const LEAD_MS = 500;
/** How often the system clock is compared with the monotonic one, which drives timers. */
const CLOCK_LOOK_MS = 500;
/** Smaller corrections of the system clock are usual. */
const CLOCK_JUMP_MS = 250;

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

/** Returns a function that calls `lookAt` with the next few organisations in use, starting over after the last one. */
function someAfterSome(storage: Storage, lookAt: (ids: readonly string[]) => void): () => void {
  let lookedAt = '';
  return () => {
    const some = usedOrganisationsAfter(storage.control, lookedAt, LOOKED_AT_PER_S);
    lookAt(some);
    lookedAt = some.length < LOOKED_AT_PER_S ? '' : (some.at(-1) ?? '');
  };
}

/** The nearest deadline of each organisation that has one, and a timer set to the nearest of all. */
function createNearest(nowMs: () => number, ring: () => Promise<void>) {
  const nearest = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  const arm = () => {
    const atMs = Math.min(...nearest.values());
    if (atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(rang, Math.min(Math.max(0, atMs - nowMs()), SLEEP_MAX_MS)).unref();
  };
  const rang = () => {
    timerAtMs = Number.POSITIVE_INFINITY;
    void ring();
  };
  return {
    note(organisationId: string, atMs: number): void {
      if (atMs >= (nearest.get(organisationId) ?? Number.POSITIVE_INFINITY)) return;
      nearest.set(organisationId, atMs);
      arm();
    },
    due: () => [...nearest].filter(([, atMs]) => atMs <= nowMs()).map(([organisationId]) => organisationId),
    /** Takes effect at `rearm`. */
    postpone: (organisationId: string, atMs: number) => nearest.set(organisationId, atMs),
    forget: (organisationId: string) => nearest.delete(organisationId),
    rearm(): void {
      timerAtMs = Number.POSITIVE_INFINITY;
      arm();
    },
    close(): void {
      clearTimeout(timer);
      // No deadline is nearer, so none sets the timer again.
      timerAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

export function createDeadlines({ storage, log, nowMs, monotonicMs = () => performance.now(), others }: DeadlineServices) {
  const nearest = createNearest(nowMs, ring);
  let kinds: readonly DeadlineKind[] = [];
  let closed = false;
  const leadMs = others.isAlone ? 0 : LEAD_MS;

  const look = (organisationId: string) => {
    for (const kind of kinds) {
      const next = kind.next(storage.organisation(organisationId));
      if (next !== null) nearest.note(organisationId, next > nowMs() ? next + leadMs : next);
    }
  };

  /** An organisation that cannot be read does not stop the others, and is checked again. */
  const lookNamed = (organisationId: string) => section('deadlines are looked at', organisationId, () => look(organisationId));
  const lookAt = (ids: Iterable<string>) => {
    for (const id of forEachOrganisationSync({ storage, log }, 'looking at deadlines', lookNamed, ids))
      nearest.note(id, nowMs() + RETRY_MS);
  };
  const unwatchRows = others.lookEvery(LOOK_EVERY_MS, someAfterSome(storage, lookAt));

  // Rows that expired by the new time are ended at once: a reader may have seen them expired, which must hold if the clock is set back.
  const unwatchClock = watchClock(log, nowMs, monotonicMs, nearest.rearm);

  const quietWhenClosed: EachServices['log'] = { error: (facts: object, text?: string) => closed || log.error(facts, text) };

  async function ring(): Promise<void> {
    for (const organisationId of nearest.due()) {
      nearest.forget(organisationId);
      const settled = async () => {
        for (const kind of kinds) await kind.settle(organisationId);
        look(organisationId);
      };
      const outcome = await attempt({ storage, log: quietWhenClosed }, organisationId, 'settling deadlines', settled);
      if (closed) return;
      if (outcome !== 'done') nearest.postpone(organisationId, nowMs() + RETRY_MS);
    }
    nearest.rearm();
  }

  return {
    note: nearest.note,
    /** Starts to watch rows of these kinds, in organisations that were looked at or of which a deadline was noted. */
    watch(more: readonly DeadlineKind[]): void {
      kinds = [...kinds, ...more];
    },
    /** Looks at the organisation's rows for their nearest deadline. @throws what reading its file throws. */
    look: lookNamed,
    /** When the next row of the organisation expires; null when none does. @throws as `look`. */
    next(organisationId: string): number | null {
      const db = storage.organisation(organisationId);
      return kinds.map((kind) => kind.next(db)).reduce(nearerOf, null);
    },
    forget: nearest.forget,
    /** Checks all organisations in use again, a few at a time: after the loss of a node that alone may have known a deadline. */
    async lookAgain(): Promise<void> {
      let looked = 0;
      for (const id of usedOrganisations(storage.control)) {
        if (closed) return;
        lookAt([id]);
        looked += 1;
        if (looked % LOOKED_AT_PER_S === 0) await nextTick();
      }
    },
    close(): void {
      closed = true;
      unwatchRows();
      unwatchClock();
      nearest.close();
    },
  };
}
