/**
 * Per-minute limits. A leaky bucket for each pool, app and device of this process is a soft first line of defence (LIMIT-1, LIMIT-4).
 * Others count each person who signed, or else each address, because device ids cost nothing (LIMIT-6, LIMIT-8). A bucket fills by one
 * with each request and leaks steadily. It stores its level and not the limit, so a changed limit holds from the next request on.
 *
 * The nodes of a cell tell each other what they let pass and fill their buckets with it, so a limit holds for the cell. A burst that
 * reaches several nodes within the 50 ms until they know passes, and delays later requests. A setup session's requests are announced at
 * once. Without Redis every node counts its own requests.
 */
import { LRUCache } from 'lru-cache';
import { ownCounts, type SharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import { type ErrorCode, Refusal, type RefusalOptions } from '../protocol/errors.ts';
import { SETUP_REQUESTS_PER_MINUTE } from '../protocol/limits.ts';
import type { RateLimit, RuntimeCaller } from './route.ts';

/** A refusal without a stack trace: nobody reads where a limit was met, and noting it is a fifth of what such an answer costs. */
export function cheapRefusal(code: ErrorCode, message: string, options: RefusalOptions): Refusal {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const refusal = new Refusal(code, message, options);
  Error.stackTraceLimit = stackTraceLimit;
  return refusal;
}

const MINUTE_MS = 60_000;

/**
 * A bucket that nobody filled for so long is forgotten: it has leaked, even where several nodes filled it at once. So a process holds those
 * who were here lately, and not everybody since it started.
 */
const KEPT_MS = 10 * MINUTE_MS;
/** Looked at for each bucket that is made, so that there are never more than came in that time. */
const FORGOTTEN_AT_ONCE = 2;
/** Some 300 bytes each, 30 MB in all. An evicted device starts empty; the app's buckets limit clients that invent ids to evict others. */
const DEVICE_BUCKETS_MAX = 100_000;
/** A cache of its own, so that invented device ids cannot evict these. */
const APP_BUCKETS_MAX = 20_000;
/** A cache of its own as well; 30 MB at most, as for devices. More addresses than this belong to more than one attacker. */
const ADDRESS_BUCKETS_MAX = 100_000;
/** Signed people cannot be invented; one bucket takes up to 500 bytes, with the id. */
const PERSON_BUCKETS_MAX = 50_000;
/** Open setup sessions of one process; each takes 1 KB. */
const SESSIONS_MAX = 10_000;

/**
 * A minute, by address. Setup tokens cannot be guessed, so theirs only keeps noise down. A person may have chosen an operator's. A `name` is a key,
 * token or code that no cell knows (CELL-19).
 */
const WRONG_PER_MINUTE = { operator: 60, readyz: 60, inspector: 60, setup: SETUP_REQUESTS_PER_MINUTE, cell: 60, name: 120 } as const;
export type CredentialKind = keyof typeof WRONG_PER_MINUTE;

/** A minute, by address: an office of a thousand that opens a new release loads some five each. */
const FILES_PER_MINUTE = 6_000;

interface Bucket {
  level: number;
  atMs: number;
}

/** A clock that was set back must not fill the bucket. */
function levelAt(bucket: Bucket, perMinute: number, nowMs: number): number {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  return Math.max(0, bucket.level - (elapsedMs * perMinute) / MINUTE_MS);
}

/** Seconds until one more request fits into a bucket of this level; 0: it fits now. */
function waitUntilFits(level: number, perMinute: number): number {
  if (level + 1 <= perMinute) return 0;
  if (perMinute <= 0) return MINUTE_MS / 1000;
  return Math.max(1, Math.ceil(((level + 1 - perMinute) * MINUTE_MS) / perMinute / 1000));
}

/** Names of buckets in the counts shared with other nodes: kind, the limit by which they leak, and their key here. */
const SHARED_NAME = /^(device|app|address|person) (\d+(?:\.\d+)?) (.+)$/s;
const SHARED_SESSION = 'session ';

type Scope = RateLimit['scope'];

const WHO: Readonly<Record<Scope, string>> = {
  device: 'this device',
  app: 'this app',
  address: 'this address',
  person: 'this person',
};

const BUCKETS_MAX: Readonly<Record<Scope, number>> = {
  device: DEVICE_BUCKETS_MAX,
  app: APP_BUCKETS_MAX,
  address: ADDRESS_BUCKETS_MAX,
  person: PERSON_BUCKETS_MAX,
};

/** The bucket's name after its app; undefined: the limit is not about this caller. */
function bucketOf(scope: Scope, caller: RuntimeCaller, person: string | null): string | undefined {
  if (scope === 'app') return '';
  if (scope === 'device') return ` ${caller.deviceId}`;
  if (scope === 'person') return person === null ? undefined : ` ${person}`;
  return person === null ? ` ${caller.address}` : undefined;
}

function tooMany(who: string, waitS: number): Refusal {
  return cheapRefusal('rate_limited', `Too many requests from ${who}. Try again in ${waitS} s.`, { retryAfterS: waitS });
}

function tooManyWrong(waitS: number): Refusal {
  return cheapRefusal('rate_limited', `Too many wrong credentials from this address. Try again in ${waitS} s.`, { retryAfterS: waitS });
}

/** Room for each entry is made when it comes: with lru-cache's own `max` it would be for all at once, some megabytes. */
function bounded<Value extends object>(maxSize: number): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize, sizeCalculation: () => 1 });
}

/** Takes the bucket away that was used least lately, if nobody filled it for long enough. */
function forgetOldest(buckets: LRUCache<string, Bucket>, nowMs: number): void {
  const key = buckets.rkeys().next().value;
  // Also one of a time when the clock was ahead: it would stand before all others until then.
  if (key !== undefined && Math.abs(nowMs - (buckets.peek(key)?.atMs ?? nowMs)) >= KEPT_MS) buckets.delete(key);
}

export class RateBuckets {
  readonly #nowMs: () => number;
  readonly #made: Partial<Record<Scope, LRUCache<string, Bucket>>> = {};
  /** Times of a session's last requests, oldest first; at most a minute's limit of them. */
  readonly #sessions = bounded<number[]>(SESSIONS_MAX);

  readonly #others: SharedCounts;

  constructor(nowMs: () => number, others: SharedCounts = ownCounts) {
    this.#nowMs = nowMs;
    this.#others = others;
    others.listen((name, count) => this.#heard(name, count));
  }

  #buckets(scope: Scope): LRUCache<string, Bucket> {
    const made = this.#made[scope] ?? bounded<Bucket>(BUCKETS_MAX[scope]);
    this.#made[scope] = made;
    return made;
  }

  /** Counts requests that another node let pass. */
  #heard(name: string, count: number): void {
    if (name.startsWith(SHARED_SESSION)) {
      const sessionId = name.slice(SHARED_SESSION.length);
      const times = [...this.#timesOf(sessionId), ...Array<number>(Math.min(count, SETUP_REQUESTS_PER_MINUTE)).fill(this.#nowMs())];
      this.#sessions.set(sessionId, times.slice(-SETUP_REQUESTS_PER_MINUTE));
      return;
    }
    const [, kind, perMinute, key] = SHARED_NAME.exec(name) ?? [];
    if (key === undefined) return;
    const bucket = this.#bucket(this.#buckets(kind as Scope), key);
    const nowMs = this.#nowMs();
    bucket.level = Math.max(0, levelAt(bucket, Number(perMinute), nowMs) + count);
    bucket.atMs = nowMs;
  }

  /** How many buckets of this kind are held. */
  held(scope: Scope): number {
    return this.#made[scope]?.size ?? 0;
  }

  /** How many more requests of this caller would pass `limit` at once, now; Infinity when it does not count them. Counts nothing. */
  left({ pool, scope, perMinute: limitOf }: RateLimit, caller: RuntimeCaller, person = caller.person): number {
    const perMinute = limitOf(caller.app);
    const name = bucketOf(scope, caller, person);
    if (name === undefined || perMinute === Infinity) return Infinity;
    const bucket = this.#buckets(scope).peek(`${pool} ${caller.app.id}${name}`);
    if (bucket === undefined) return perMinute;
    return Math.max(0, Math.floor(perMinute - levelAt(bucket, perMinute, this.#nowMs())));
  }

  /** Counts the request in every bucket. @throws Refusal `rate_limited` with Retry-After when one is full; then it counts no further. */
  pass(limits: readonly RateLimit[], caller: RuntimeCaller, person = caller.person): void {
    for (const limit of limits) {
      const name = bucketOf(limit.scope, caller, person);
      const perMinute = limit.perMinute(caller.app);
      if (name === undefined || perMinute === Infinity) continue;
      const isModest = limit.keptPerAddress !== undefined && this.#isModest(limit.pool, limit.keptPerAddress, caller);
      this.#pass(limit, perMinute, `${limit.pool} ${caller.app.id}${name}`, isModest);
    }
  }

  /** Takes back what `pass` counted: nothing was done for the request, and its client is asked to send it again. */
  giveBack(limits: readonly RateLimit[], caller: RuntimeCaller, person = caller.person): void {
    for (const { pool, scope, perMinute: limitOf } of limits) {
      const name = bucketOf(scope, caller, person);
      const perMinute = limitOf(caller.app);
      if (name === undefined || perMinute === Infinity) continue;
      const key = `${pool} ${caller.app.id}${name}`;
      const bucket = this.#buckets(scope).peek(key);
      if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - 1);
      this.#others.count(`${scope} ${perMinute} ${key}`, -1);
    }
  }

  /** Counts the request for its address, whatever becomes of it. True: the address sent few of them lately. */
  #isModest(pool: string, keptPerMinute: number, { app, address }: RuntimeCaller): boolean {
    return this.#take(this.#buckets('address'), `${pool} ${app.id} ${address}`, keptPerMinute) === 0;
  }

  /** Counts a file that anybody may load for the address. @throws Refusal `rate_limited` with Retry-After when there were too many. */
  passFile(address: string): void {
    const waitS = this.#take(this.#buckets('address'), `file ${address}`, FILES_PER_MINUTE);
    if (waitS > 0) throw tooMany(WHO.address, waitS);
  }

  /** Counts a wrong credential of the address. @throws Refusal `rate_limited` with Retry-After when there were too many. */
  failed(kind: CredentialKind, address: string): void {
    const key = `wrong ${kind} ${address}`;
    const perMinute = WRONG_PER_MINUTE[kind];
    const waitS = this.#take(this.#buckets('address'), key, perMinute);
    if (waitS > 0) throw tooManyWrong(waitS);
    this.#others.count(`address ${perMinute} ${key}`);
  }

  /** To be asked before a credential is compared. @throws Refusal `rate_limited` with Retry-After while there were too many wrong ones. */
  refuseGuesses(kind: CredentialKind, address: string): void {
    const bucket = this.#buckets('address').peek(`wrong ${kind} ${address}`);
    const perMinute = WRONG_PER_MINUTE[kind];
    const waitS = bucket === undefined ? 0 : waitUntilFits(levelAt(bucket, perMinute, this.#nowMs()), perMinute);
    if (waitS > 0) throw tooManyWrong(waitS);
  }

  #timesOf(sessionId: string): number[] {
    const nowMs = this.#nowMs();
    const times = this.#sessions.get(sessionId) ?? [];
    while (times[0] !== undefined && nowMs - times[0] >= MINUTE_MS) times.shift();
    return times;
  }

  /** Exactly 120 in any minute, but for two nodes of a cell at the same moment. @throws Refusal `rate_limited` with Retry-After. */
  passSession(sessionId: string): void {
    const nowMs = this.#nowMs();
    const times = this.#timesOf(sessionId);
    if (times.length >= SETUP_REQUESTS_PER_MINUTE)
      throw tooMany('this session', Math.ceil(((times[0] as number) + MINUTE_MS - nowMs) / 1000));
    times.push(nowMs);
    this.#sessions.set(sessionId, times);
    this.#others.tell(SHARED_SESSION + sessionId, 1);
  }

  /** `isKept`: it passes although the bucket is full, unless too many passed in this way. */
  #pass({ scope, retryAfterS, keptTogether = Infinity }: RateLimit, perMinute: number, key: string, isKept: boolean): void {
    const waitS = this.#take(this.#buckets(scope), key, perMinute);
    if (waitS > 0 && isKept && this.#take(this.#buckets(scope), `${key} kept`, keptTogether) === 0) return;
    if (waitS > 0) throw tooMany(WHO[scope], retryAfterS ?? waitS);
    this.#others.count(`${scope} ${perMinute} ${key}`);
  }

  /** Seconds until one more request fits; 0: it did fit and is counted. */
  #take(buckets: LRUCache<string, Bucket>, key: string, perMinute: number): number {
    const bucket = this.#bucket(buckets, key);
    const nowMs = this.#nowMs();
    bucket.level = levelAt(bucket, perMinute, nowMs);
    bucket.atMs = nowMs;
    const waitS = waitUntilFits(bucket.level, perMinute);
    if (waitS === 0) bucket.level += 1;
    return waitS;
  }

  #bucket(buckets: LRUCache<string, Bucket>, key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { level: 0, atMs: this.#nowMs() };
      for (let left = FORGOTTEN_AT_ONCE; left > 0; left--) forgetOldest(buckets, bucket.atMs);
      buckets.set(key, bucket);
    }
    return bucket;
  }
}

/** A fixed number of requests a minute; with `retryAfterS`, a fixed `Retry-After` too. */
export function perMinute(pool: string, scope: RateLimit['scope'], requests: number, retryAfterS?: number): RateLimit {
  return { pool, scope, perMinute: () => requests, ...(retryAfterS !== undefined && { retryAfterS }) };
}
