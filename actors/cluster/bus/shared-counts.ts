/**
 * Counts for the whole cell: requests in rate buckets, failed logins (CLUSTER-23). Each node counts what it admitted and sends it to the others,
 * which add it to their own counts. Without Redis each node counts alone, and a limit holds per node.
 *
 * A count is sent within 50 ms, so requests that reach several nodes within that time may exceed a limit together; `tell` sends at once. Names of
 * buckets are sealed on the way, and mean something to their users only.
 */
import type { Announcer } from '../../announcements.ts';

/** Counts are sent together: a busy node sends 20 messages a second instead of thousands. */
const BATCH_MS = 50;
/** Buckets in one message: some 100 KB. */
const BUCKETS_PER_MESSAGE = 1_000;
/** Buckets that wait. Beyond it, invented devices are counted on this node only, and everywhere by the bucket of their app. */
const WAITING_MAX = 20_000;

export interface SharedCounts {
  /** Counts one in the bucket on the other nodes within 50 ms; -1 takes one back. */
  count(bucket: string, by?: 1 | -1): void;
  /** Sends `count` of the bucket to the other nodes at once; listeners decide what 0 means. */
  tell(bucket: string, count: number): void;
  /** Calls `handler` with every count of the other nodes. */
  listen(handler: (bucket: string, count: number) => void): void;
}

/** For a process that is alone: there are no other nodes to tell. */
export const ownCounts: SharedCounts = { count() {}, tell() {}, listen() {} };

/** Counts over the bus. Costs the path of a request one entry in a Map. */
export function createSharedCounts(bus: Pick<Announcer, 'announce' | 'listen'>): SharedCounts {
  let waiting = new Map<string, number>();
  // The bus has one listener for each kind of announcement; here there are several.
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
