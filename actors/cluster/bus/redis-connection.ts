/**
 * One connection to Redis that reconnects by itself, and the few commands that the cluster needs (CLUSTER-16). It owns the time limit of commands,
 * the detection of a dead connection, and reconnecting. While Redis is away nothing is queued or sent again: a command rejects at once, and its
 * caller reads rows instead.
 */
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { throttledWarning } from '../nodes/throttled-warning.ts';
import { COMMAND_TIMEOUT_MS, openClient, RETRY_MAX_MS, SCAN_COUNT, type Scripted, VALUE_MAX_CHARS } from './redis-client.ts';

/** A cut network drops packets without a word, and TCP alone would take minutes to notice. */
const BEAT_MS = 1_000;
/** A beat that is answered this much later than its timeout was held up in this process. */
const STALL_MS = 250;

/** A connection as its user sees it. `up` is false from the moment that something is wrong until it is prepared again. */
export interface RedisLink {
  readonly redis: Scripted;
  readonly up: boolean;
  close(): void;
}

export interface LinkOptions {
  readonly redisUrl: string;
  readonly log: Logger;
  /** Each time the connection stands, before it counts as up. When it rejects, the connection is made anew. */
  readonly prepare?: (redis: RedisLink['redis']) => Promise<unknown>;
  readonly onUp?: () => void;
  readonly onDown?: () => void;
}

/** @throws when Redis does not answer. A process that was paused finds its timers due before it reads the waiting answer, and asks once more. */
async function ping(redis: Redis, isFirst = true): Promise<void> {
  const startedMs = performance.now();
  try {
    await redis.ping();
  } catch (error) {
    if (!isFirst || performance.now() - startedMs <= COMMAND_TIMEOUT_MS + STALL_MS) throw error;
    await ping(redis, false);
  }
}

/** Starts connecting and returns at once; never throws for a Redis that is away. The URL may hold a password and is never logged. */
export function openLink({ redisUrl, log, prepare, onUp, onDown }: LinkOptions): RedisLink {
  const redis = openClient(redisUrl);
  // Only the message of an ioredis error: the command in it may hold the password.
  const warn = throttledWarning(log, 'Redis is away: see REDIS_URL; until it is back, nodes read from rows what others change');
  let up = false;
  let closed = false;
  /** Numbers the connections, so that what belongs to an earlier one changes nothing. */
  let generation = 0;

  function goDown(): void {
    generation += 1;
    if (!up) return;
    up = false;
    onDown?.();
  }
  function drop(reason: string): void {
    if (closed) return;
    warn({ reason });
    goDown();
    redis.disconnect(true);
  }
  async function goUp(): Promise<void> {
    generation += 1;
    const mine = generation;
    try {
      await prepare?.(redis);
    } catch (error) {
      if (mine === generation) drop((error as Error).message);
      return;
    }
    if (mine !== generation || closed) return;
    up = true;
    onUp?.();
  }
  async function beat(): Promise<void> {
    if (!up) return;
    const mine = generation;
    await ping(redis).catch((error: Error) => up && mine === generation && drop(error.message));
  }

  redis.on('ready', () => void goUp());
  redis.on('close', goDown);
  redis.on('error', (error: Error) => warn({ reason: error.message }));
  // ioredis gives up for good when it is interrupted at the wrong moment of connecting.
  redis.on('end', () => {
    if (!closed) setTimeout(() => !closed && redis.connect().catch(() => {}), RETRY_MAX_MS).unref();
  });
  const beats = setInterval(() => void beat(), BEAT_MS).unref();
  redis.connect().catch(() => {});

  return {
    redis,
    get up() {
      return up;
    },
    close() {
      closed = true;
      clearInterval(beats);
      up = false;
      redis.disconnect();
    },
  };
}

/**
 * Plain commands. Each rejects at once while Redis is away and after 500 ms without an answer. Values of more than 16 KB, and fields of more
 * than 256 characters, were not written by us and count as not there.
 */
export interface RedisConnection {
  readonly up: boolean;
  /** `ttlMs`: it is forgotten after so long; without it is kept until Redis loses it. */
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Values of all keys that begin with `prefix`, by key, as they were at some time during the call. */
  withPrefix(prefix: string): Promise<ReadonlyMap<string, string>>;
  hashSet(key: string, fields: Readonly<Record<string, string>>): Promise<void>;
  /** Sets the field unless it is set; false: it was. */
  hashSetNew(key: string, field: string, value: string): Promise<boolean>;
  /** Sets the field if it is `was`; false: it was not. */
  hashSwap(key: string, field: string, was: string, value: string): Promise<boolean>;
  hashGet(key: string, field: string): Promise<string | undefined>;
  /** All fields, a page at a time: other work goes on in between. One that is changed meanwhile may come twice. */
  hashEntries(key: string): AsyncIterable<readonly [field: string, value: string]>;
  get(key: string): Promise<string | undefined>;
  /** Called each time Redis can be used: the first time and whenever it was away. It may have lost everything. */
  onUp(listener: () => void): void;
  close(): void;
}

async function readPrefix(redis: Redis, prefix: string): Promise<ReadonlyMap<string, string>> {
  const pattern = `${prefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`;
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  const named = [...keys];
  const values = await Promise.all(named.map((key) => readBounded(redis, key)));
  // One that expired in between has no value any more.
  return new Map(named.flatMap((key, at) => (values[at] === undefined ? [] : [[key, values[at]]])));
}

async function readBounded(redis: Redis, key: string): Promise<string | undefined> {
  const value = await redis.getrange(key, 0, VALUE_MAX_CHARS).catch((error: Error) => {
    // A key of another type is nothing of ours.
    if (error.message.startsWith('WRONGTYPE')) return '';
    throw error;
  });
  return value === '' || value.length > VALUE_MAX_CHARS ? undefined : value;
}

async function* readEntries(redis: Scripted, key: string): AsyncIterable<readonly [string, string]> {
  let cursor = '0';
  do {
    const [next, found] = await redis.scanFields(key, cursor);
    for (let at = 0; at + 1 < found.length; at += 2) yield [found[at] as string, found[at + 1] as string];
    cursor = next;
  } while (cursor !== '0');
}

/** A connection for plain commands; connects in the background. */
export function openRedis({ redisUrl, log }: Pick<LinkOptions, 'redisUrl' | 'log'>): RedisConnection {
  const listeners: (() => void)[] = [];
  const link = openLink({
    redisUrl,
    log,
    onUp: () => {
      for (const listener of listeners) listener();
    },
  });
  const { redis } = link;
  return {
    get up() {
      return link.up;
    },
    async set(key, value, ttlMs) {
      await (ttlMs === undefined ? redis.set(key, value) : redis.set(key, value, 'PX', ttlMs));
    },
    async delete(key) {
      await redis.del(key);
    },
    withPrefix: (prefix) => readPrefix(redis, prefix),
    async hashSet(key, fields) {
      await redis.hset(key, fields);
    },
    hashSetNew: async (key, field, value) => (await redis.setNewField(key, field, value)) === 1,
    hashSwap: async (key, field, was, value) => (await redis.swapField(key, field, was, value)) === 1,
    hashGet: async (key, field) => (await redis.readField(key, field)) ?? undefined,
    hashEntries: (key) => readEntries(redis, key),
    get: (key) => readBounded(redis, key),
    onUp(listener) {
      listeners.push(listener);
    },
    close: link.close,
  };
}
