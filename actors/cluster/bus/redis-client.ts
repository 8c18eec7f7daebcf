/**
 * Opens the client of a Redis address: one server, or the master that sentinels name (CLUSTER-25). Nothing is queued or sent again by the
 * client: see redis-connection.ts. A cluster is not taken: announcements would go through any of its masters, and overtake each other.
 */
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';

const require = createRequire(import.meta.url);

/** Redis answers within a millisecond; one that takes longer than this is away. */
export const COMMAND_TIMEOUT_MS = 500;
/** Long enough not to burden a Redis that is just starting, short enough that recovery is felt as immediate. */
const RETRY_FIRST_MS = 50;
export const RETRY_MAX_MS = 500;
/** An orderly end gets this long; behind a cut network it never comes. */
const DISCONNECT_TIMEOUT_MS = 50;
/** Keys that one SCAN step looks at: few round trips, and no step that holds Redis up. */
export const SCAN_COUNT = 1_000;

/** Longer values, and longer names, were not written by us: whoever writes to Redis may not fill this process with them. */
export const VALUE_MAX_CHARS = 16 * 1024;
const FIELD_MAX_CHARS = 256;

/** Redis has no commands for these. What is too long counts as not there, and does not leave Redis. */
const SCRIPTS = {
  readField: `local v = redis.call('HGET', KEYS[1], ARGV[1]) if v and #v <= ${VALUE_MAX_CHARS} then return v end return false`,
  setNewField: `local n = redis.call('HSTRLEN', KEYS[1], ARGV[1]) if n > 0 and n <= ${VALUE_MAX_CHARS} then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) return 1`,
  swapField: "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) return 1",
  scanFields: `local r = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ${SCAN_COUNT}) local out = {} for i = 1, #r[2], 2 do
if #r[2][i] <= ${FIELD_MAX_CHARS} and #r[2][i + 1] <= ${VALUE_MAX_CHARS} then out[#out + 1] = r[2][i] out[#out + 1] = r[2][i + 1] end end
return {r[1], out}`,
};

export interface Scripted extends Redis {
  readField(key: string, field: string): Promise<string | null>;
  setNewField(key: string, field: string, value: string): Promise<number>;
  swapField(key: string, field: string, was: string, value: string): Promise<number>;
  scanFields(key: string, cursor: string): Promise<[cursor: string, fieldsAndValues: string[]]>;
}

/** `redis+sentinel://user:password@host:26379,host:26379/name-of-the-master?sentinel_password=…` */
const GUARDED = /^(rediss?)\+sentinel:\/\/(?:([^@/]+)@)?([^@/?#]+)\/([\w.-]+)(?:\?sentinel_password=([^&#]+))?$/;
const HOST = /^(?:\[([0-9a-f:]+)\]|([0-9a-z._-]+)):(\d{1,5})$/i;
const PORT_MAX = 65_535;
/** Three to seven are usual, and they are asked one after the other. */
const HOSTS_MAX = 32;
export const REDIS_ADDRESS_RULE =
  'it must be an address such as redis://127.0.0.1:6379 or redis+sentinel://host:26379,host:26379/master, rediss for TLS; a cluster is not taken';

/** Undefined: percent signs that stand for nothing. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** How the client is told of sentinels. Undefined: one server, or no address at all. */
function guardedBy(address: string) {
  const [, scheme, userInfo = '', list = '', name = '', ofSentinels = ''] = GUARDED.exec(address) ?? [];
  if (scheme === undefined) return undefined;
  const sentinels = list.split(',').map((each) => {
    const [, v6, host = v6, port] = HOST.exec(each) ?? [];
    return { host: host ?? '', port: Number(port) };
  });
  if (sentinels.length > HOSTS_MAX || !sentinels.every(({ port }) => port >= 1 && port <= PORT_MAX)) return undefined;
  const [user = '', ...words] = userInfo.split(':');
  const [username, password, sentinelPassword] = [user, words.join(':'), ofSentinels].map(decoded);
  if (username === undefined || password === undefined || sentinelPassword === undefined) return undefined;
  // Servers with data have the first two; sentinels often have no password.
  const credentials = { ...(username && { username }), ...(password && { password }), ...(sentinelPassword && { sentinelPassword }) };
  return {
    ...{ sentinels, name, ...credentials, sentinelRetryStrategy: retryDelayMs, sentinelCommandTimeout: COMMAND_TIMEOUT_MS },
    ...(scheme === 'rediss' && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

export const namesSentinels = (address: string) => guardedBy(address) !== undefined;

/** Whether a text is an address that `openClient` takes: REDIS_ADDRESS_RULE says so in words. */
export const isRedisAddress = (text: string) => namesSentinels(text) || (URL.canParse(text) && /^rediss?:\/\/[^/]/.test(text));

/** 50 ms, 100 ms, … 500 ms, each shortened at random by up to a half, so that nodes do not all come back at once. */
function retryDelayMs(attempt: number): number {
  const fullMs = Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS);
  return Math.round(fullMs * (0.5 + Math.random() / 2));
}

/** Does not connect yet. The address may hold a password and is never logged. */
export function openClient(address: string): Scripted {
  // Only now: a process without Redis has no use for it, and it takes a tenth of a start to load.
  const { Redis: Client } = require('ioredis') as typeof import('ioredis');
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxLoadingRetryTime: RETRY_MAX_MS,
    disableClientInfo: true,
    retryStrategy: retryDelayMs,
    scripts: Object.fromEntries(Object.entries(SCRIPTS).map(([name, lua]) => [name, { lua, numberOfKeys: 1 }])),
  };
  const sentinels = guardedBy(address);
  return (sentinels === undefined ? new Client(address, options) : new Client({ ...options, ...sentinels })) as Scripted;
}
