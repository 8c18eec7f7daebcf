/**
 * Counts that hold for the whole cell: requests in rate buckets, failed logins (CLUSTER-23). Each node counts what it
 * admitted and tells the others, who add it to their own. Without Redis each node counts alone: a limit then holds per node.
 *
 * A count is told within 50 ms, so what reaches several nodes within that time may pass a limit together; `tell` is for counts
 * that must not wait. A bucket's name is the business of whoever counts; it is sealed on its way.
 */
import type { Announcer } from '../../announcements.ts';

/** Told together; people do not feel it, and a busy node sends 20 messages a second instead of thousands. */
const BATCH_MS = 50;
/** Buckets in one message: some 100 KB. */
const BUCKETS_PER_MESSAGE = 1_000;
/** Buckets that wait; a flood of invented devices beyond it is counted here only, and by its app's bucket everywhere. */
const WAITING_MAX = 20_000;

export interface SharedCounts {
  /** Counts one in the bucket at the other nodes, soon; -1 takes one back. */
  count(bucket: string, by?: 1 | -1): void;
  /** Tells `count` of the bucket to the other nodes at once; what 0 means is up to who listens. */
  tell(bucket: string, count: number): void;
  /** Hears of every count of the other nodes. */
  listen(handler: (bucket: string, count: number) => void): void;
}

/** Of a process that is alone: there is nobody to tell. */
export const ownCounts: SharedCounts = { count() {}, tell() {}, listen() {} };

/** Counts over the bus. Costs the path of a request one entry in a Map. */
export function createSharedCounts(bus: Pick<Announcer, 'announce' | 'listen'>): SharedCounts {
  let waiting = new Map<string, number>();
  // Of a kind the bus has one listener; several count.
  const handlers: ((bucket: string, count: number) => void)[] = [];
  bus.listen('counted', ({ counts }) => {
    for (const [bucket, count] of counts) for (const handler of handlers) handler(bucket, count);
  });

  const flush = () => {
    const counts = [...waiting];
    waiting = new Map();
    for (let at = 0; at < counts.length; at += BUCKETS_PER_MESSAGE) {
      bus.announce('counted', { counts: counts.slice(at, at + BUCKETS_PER_MESSAGE) });
    }
  };

  return {
    count(bucket, by = 1) {
      const before = waiting.get(bucket);
      if (before === undefined && waiting.size >= WAITING_MAX) return;
      if (waiting.size === 0) setTimeout(flush, BATCH_MS).unref();
      waiting.set(bucket, (before ?? 0) + by);
    },
    tell: (bucket, count) => bus.announce('counted', { counts: [[bucket, count]] }),
    listen: (handler) => void handlers.push(handler),
  };
}
