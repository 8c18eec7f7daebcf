/**
 * Per-minute limits, one bucket per (pool, app, device) in this process: a soft first line of defence (service.md "Limits,
 * the five caps", rules 1 and 2). A bucket fills by one with each request and leaks steadily, so a changed limit
 * counts from the next request on: it is compared with the level and never stored.
 *
 * Of a cell each node tells the others what it let pass, and they fill their buckets with it, so a limit holds for the cell: a
 * burst that reaches several nodes within the 50 ms until they know is let pass and has to be waited for afterwards. A setup
 * session's requests are told at once. Without Redis every node counts what reaches it.
 */
import { LRUCache } from 'lru-cache';
import type { SharedCounts } from '../actors/cluster/shared-counts.ts';
import { Refusal } from '../protocol/errors.ts';
import { SETUP_REQUESTS_PER_MINUTE } from '../protocol/limits.ts';
import type { AppRecord } from '../storage/apps.ts';
import type { RateLimit, RuntimeCaller } from './route.ts';

const MINUTE_MS = 60_000;

/**
 * A bucket takes some 200 bytes, so these are 20 MB at most. A device that is pushed out starts afresh; whoever invents
 * device ids to push others out is held by the buckets of the app.
 */
const DEVICE_BUCKETS_MAX = 100_000;
/** Kept apart: invented device ids cannot push these out. */
const APP_BUCKETS_MAX = 20_000;
/** Open setup sessions of one process; each belongs to an app that somebody is configuring right now, and takes 1 KB. */
const SESSIONS_MAX = 10_000;

interface Bucket {
  level: number;
  atMs: number;
}

/** What a bucket holds at `nowMs`. A clock that was set back must not fill it. */
function levelAt(bucket: Bucket, perMinute: number, nowMs: number): number {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  return Math.max(0, bucket.level - (elapsedMs * perMinute) / MINUTE_MS);
}

/** Names of buckets among nodes: kind, the limit by which they leak, and their key here. */
const SHARED_NAME = /^(device|app) (\d+(?:\.\d+)?) (.+)$/s;
const SHARED_SESSION = 'session ';

function tooMany(who: string, waitS: number): Refusal {
  return new Refusal('rate_limited', `Too many requests from ${who}. Try again in ${waitS} s.`, { retryAfterS: waitS });
}

export class RateBuckets {
  readonly #nowMs: () => number;
  readonly #devices = new LRUCache<string, Bucket>({ max: DEVICE_BUCKETS_MAX });
  readonly #apps = new LRUCache<string, Bucket>({ max: APP_BUCKETS_MAX });
  /** When the last requests of a session came, oldest first: at most as many as a minute may have. */
  readonly #sessions = new LRUCache<string, number[]>({ max: SESSIONS_MAX });

  readonly #others: SharedCounts | undefined;

  /** `others`: the counts of the cell, where there are other nodes. */
  constructor(nowMs: () => number, others?: SharedCounts) {
    this.#nowMs = nowMs;
    this.#others = others;
    others?.listen((name, count) => this.#heard(name, count));
  }

  /** Another node let requests pass. */
  #heard(name: string, count: number): void {
    if (name.startsWith(SHARED_SESSION)) {
      const sessionId = name.slice(SHARED_SESSION.length);
      const times = [...this.#timesOf(sessionId), ...Array<number>(Math.min(count, SETUP_REQUESTS_PER_MINUTE)).fill(this.#nowMs())];
      this.#sessions.set(sessionId, times.slice(-SETUP_REQUESTS_PER_MINUTE));
      return;
    }
    const [, kind, perMinute, key] = SHARED_NAME.exec(name) ?? [];
    if (key === undefined) return;
    const bucket = this.#bucket(kind === 'device' ? this.#devices : this.#apps, key);
    const nowMs = this.#nowMs();
    bucket.level = levelAt(bucket, Number(perMinute), nowMs) + count;
    bucket.atMs = nowMs;
  }

  /** How many more requests of this caller would pass `limit` at once, now. Counts nothing. */
  left({ pool, scope, perMinute: limitOf }: RateLimit, { app, deviceId }: RuntimeCaller): number {
    const perMinute = limitOf(app);
    const bucket = scope === 'device' ? this.#devices.peek(`${pool} ${app.id} ${deviceId}`) : this.#apps.peek(`${pool} ${app.id}`);
    if (bucket === undefined) return perMinute;
    return Math.max(0, Math.floor(perMinute - levelAt(bucket, perMinute, this.#nowMs())));
  }

  /** Counts the request in every bucket. @throws Refusal `rate_limited` with Retry-After when one is full; then it counts no further. */
  pass(limits: readonly RateLimit[], caller: RuntimeCaller): void {
    for (const limit of limits) {
      const { app, deviceId } = caller;
      if (limit.scope === 'device') this.#pass(this.#devices, `${limit.pool} ${app.id} ${deviceId}`, limit, app, 'this device');
      else this.#pass(this.#apps, `${limit.pool} ${app.id}`, limit, app, 'this app');
    }
  }

  /** When the requests of the last minute came. */
  #timesOf(sessionId: string): number[] {
    const nowMs = this.#nowMs();
    const times = this.#sessions.get(sessionId) ?? [];
    while (times[0] !== undefined && nowMs - times[0] >= MINUTE_MS) times.shift();
    return times;
  }

  /**
   * Counts a request of a setup session: 120 in any minute, exactly; in a cell but for requests that reach two nodes at the
   * same moment. @throws Refusal `rate_limited` with Retry-After.
   */
  passSession(sessionId: string): void {
    const nowMs = this.#nowMs();
    const times = this.#timesOf(sessionId);
    if (times.length >= SETUP_REQUESTS_PER_MINUTE)
      throw tooMany('this session', Math.ceil(((times[0] as number) + MINUTE_MS - nowMs) / 1000));
    times.push(nowMs);
    this.#sessions.set(sessionId, times);
    this.#others?.tell(SHARED_SESSION + sessionId, 1);
  }

  #pass(buckets: LRUCache<string, Bucket>, key: string, limit: RateLimit, app: AppRecord, who: string): void {
    const perMinute = limit.perMinute(app);
    const waitS = this.#take(buckets, key, perMinute);
    if (waitS === 0) {
      this.#others?.count(`${limit.scope} ${perMinute} ${key}`);
      return;
    }
    throw tooMany(who, limit.retryAfterS ?? waitS);
  }

  /** Seconds until one request more fits; 0: it fitted and is counted. */
  #take(buckets: LRUCache<string, Bucket>, key: string, perMinute: number): number {
    const bucket = this.#bucket(buckets, key);
    const nowMs = this.#nowMs();
    bucket.level = levelAt(bucket, perMinute, nowMs);
    bucket.atMs = nowMs;
    if (bucket.level + 1 <= perMinute) {
      bucket.level += 1;
      return 0;
    }
    if (perMinute <= 0) return MINUTE_MS / 1000;
    return Math.max(1, Math.ceil(((bucket.level + 1 - perMinute) * MINUTE_MS) / perMinute / 1000));
  }

  #bucket(buckets: LRUCache<string, Bucket>, key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { level: 0, atMs: this.#nowMs() };
      buckets.set(key, bucket);
    }
    return bucket;
  }
}

/** A fixed number of requests a minute; with `retryAfterS`, a fixed `Retry-After` too. */
export function perMinute(pool: string, scope: RateLimit['scope'], requests: number, retryAfterS?: number): RateLimit {
  return { pool, scope, perMinute: () => requests, ...(retryAfterS !== undefined && { retryAfterS }) };
}
