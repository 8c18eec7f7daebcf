/** Environment → one frozen, validated Config (RUN-2). Nothing else reads `process.env`. */
import { distance } from 'fastest-levenshtein';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { namesSentinels } from '../actors/cluster/bus/redis-client.ts';
import { withoutEnd } from '../protocol/schema/text.ts';
import { ConfigError, defaultOf, environment, httpUrl, isSecret, key, type Settings } from './settings.ts';

export { ConfigError } from './settings.ts';

export type Config = ReturnType<typeof readConfig>;
export type ClusterConfig = NonNullable<Config['cluster']>;
export type CellConfig = NonNullable<ClusterConfig['cell']>;
export type ReplicaConfig = NonNullable<Config['replica']>;

const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'gpt-4.1-mini';
const ANTHROPIC_BASE_URL = 'https://api.anthropic.com';
const ANTHROPIC_MODEL = 'claude-haiku-4-5';

/** An address with a user and a password, in any variable: it must not reach a log. */
const HOLDS_PASSWORD = /:\/\/[^/]*@/;

/** Whether only this machine reaches what listens there. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}
/** First words that variables of other programs rarely have. */
const OWN_PREFIX = /^(?:CELL|EMBEDDING|INSPECTOR|OPERATOR|REPLICA|TRACE|TURN)_/;

/** What a message may say that the variable holds, on one line. */
function shown(variable: string, value: string): string {
  return isSecret(variable) || HOLDS_PASSWORD.test(value) ? 'set to something else' : JSON.stringify(value);
}

/** Names of one word are near to too many others. */
const LONG_NAME_CHARS = 8;

/**
 * Variables whose name is nearly that of one that is read, or begins as only those of this service do, each in a sentence: a name that is
 * misspelt would leave the default in place without a word.
 */
export function misspelt(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(environment.entries);
  return Object.keys(env).flatMap((name) => {
    const plain = name.toUpperCase().replaceAll('-', '_');
    if (known.includes(name)) return [];
    const [nearest] = known
      .map((variable) => ({ variable, edits: distance(plain, variable) }))
      .filter(({ variable, edits }) => edits <= (variable.length < LONG_NAME_CHARS ? 1 : 2))
      .sort((one, other) => one.edits - other.edits);
    if (nearest !== undefined) return [`${name} is not read. Is ${nearest.variable} meant?`];
    return OWN_PREFIX.test(plain) ? [`${name} is not read: this service has no such variable.`] : [];
  });
}

/** Of nodes and cells (RUN-3). @throws ConfigError when a variable is set without another that it needs. */
function clusterOf(read: Settings) {
  const { REDIS_URL: redisUrl, NODE_ID: nodeId, CELL_ID: id, CELL_URL, PUBLIC_URL, WORKERS: workers } = read;
  if (redisUrl === undefined) {
    const why = 'then REDIS_URL must be set: processes that share a data directory meet there';
    if (workers > 1) throw new ConfigError('WORKERS', JSON.stringify(String(workers)), why);
    if (id !== undefined) throw new ConfigError('CELL_ID', JSON.stringify(id), 'then REDIS_URL must be set: cells meet there');
    return undefined;
  }
  const url = CELL_URL ?? PUBLIC_URL;
  const lacks = (why: string) => new ConfigError('CELL_ID', JSON.stringify(id), why);
  if (id !== undefined && read.OPERATOR_TOKEN === undefined)
    throw lacks('then OPERATOR_TOKEN must be set, and be the same for all cells: one console speaks to all of them');
  if (id !== undefined && read.MASTER_KEY === undefined)
    throw lacks('then MASTER_KEY must be set, and be the same for all cells: what one sealed another has to open');
  if (id !== undefined && namesSentinels(redisUrl))
    throw lacks(
      'then REDIS_URL must name one server: sentinels may leave a master that still shows the claim of a host that was taken over',
    );
  if (id !== undefined && url === undefined) throw lacks('then CELL_URL (or PUBLIC_URL) must say how the other cells reach this one');
  return {
    redisUrl,
    nodeId,
    /** Undefined: there is one cell, which has no name. `url`: how the other cells reach this one. */
    cell: id === undefined || url === undefined ? undefined : { id, url },
  };
}

const REGION_FORM = /^[0-9a-z-]{1,40}$/;

/** The continuous replica (REPLICA-1): undefined without REPLICA_URL, whatever else is set. @throws ConfigError for an address without what its kind needs. */
function replicaOf(read: Settings) {
  if (read.REPLICA_URL === undefined) return undefined;
  const url = withoutEnd(read.REPLICA_URL, '/');
  if (url.startsWith('s3://') && new URL(url).hostname === '')
    throw new ConfigError('REPLICA_URL', 'set to something else', 'an s3 address names a bucket');
  // Other programs read these as well, so without a replica they may hold anything.
  if (!REGION_FORM.test(read.AWS_REGION)) throw new ConfigError('AWS_REGION', 'set to something else', 'it must be the name of a region');
  const endpoint = read.AWS_ENDPOINT_URL;
  if (endpoint !== undefined && !v.is(httpUrl, endpoint))
    throw new ConfigError('AWS_ENDPOINT_URL', 'set to something else', 'it must be an http or https address');
  return {
    /** Where to, without a slash at its end. May hold a password: it is shown by `shownUrl` only. */
    url,
    bin: read.LITESTREAM_BIN,
    lagMaxS: read.REPLICA_LAG_MAX_S,
    includeKey: read.REPLICA_INCLUDE_KEY,
    /** The server of an `s3://` address; `endpoint` undefined: Amazon's. */
    s3: {
      endpoint: endpoint === undefined ? undefined : withoutEnd(endpoint, '/'),
      region: read.AWS_REGION,
      accessKeyId: read.AWS_ACCESS_KEY_ID,
      secretAccessKey: read.AWS_SECRET_ACCESS_KEY,
    },
  };
}

function openAiServer({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl = OPENAI_BASE_URL }: Settings) {
  return { apiKey, baseUrl };
}

/** The model that answers: the one that is named, else that of the first maker whose key or address is set. @throws ConfigError without either of a maker that is named. */
function modelOf(read: Settings) {
  const hasOpenAi = read.OPENAI_API_KEY !== undefined || read.OPENAI_BASE_URL !== undefined;
  const hasAnthropic = read.ANTHROPIC_API_KEY !== undefined || read.ANTHROPIC_BASE_URL !== undefined;
  const provider = read.MODEL_PROVIDER ?? (hasOpenAi ? 'openai' : hasAnthropic ? 'anthropic' : 'offline');
  if (provider === 'offline') return { provider };
  const isAnthropic = provider === 'anthropic';
  if (isAnthropic ? !hasAnthropic : !hasOpenAi) {
    const maker = isAnthropic ? 'ANTHROPIC' : 'OPENAI';
    const why = `then ${maker}_API_KEY must be set, or ${maker}_BASE_URL for a server that wants no key`;
    throw new ConfigError('MODEL_PROVIDER', JSON.stringify(provider), why);
  }
  const anthropic = { apiKey: read.ANTHROPIC_API_KEY, baseUrl: read.ANTHROPIC_BASE_URL ?? ANTHROPIC_BASE_URL };
  return {
    provider,
    ...(isAnthropic ? anthropic : openAiServer(read)),
    /** Undefined: where its maker's servers look for the key. */
    keyHeader: read.MODEL_KEY_HEADER,
    model: read.MODEL ?? (isAnthropic ? ANTHROPIC_MODEL : OPENAI_MODEL),
    silenceMs: read.MODEL_SILENCE_S * 1_000,
    isChecked: read.MODEL_CHECK,
    /** It can be shown pictures. */
    images: read.MODEL_IMAGES,
  };
}

/** @throws ConfigError when there is no model that they stand in for, or the variable of a key holds none. */
function fallbacksOf(read: Settings, given: Readonly<Record<string, string | undefined>>) {
  const { MODELS: listed, MODEL_SILENCE_S: silenceS, MODEL_CHECK: isChecked } = read;
  const wrong = (why: string) => new ConfigError('MODELS', 'set to something else', why);
  if (listed.length > 0 && modelOf(read).provider === 'offline')
    throw wrong('then MODEL_PROVIDER must not be offline: they stand in for its model');
  return listed.map(({ provider, model, address, key: variable, key_header: keyHeader, images }, nth) => {
    const apiKey = variable === undefined ? undefined : given[variable];
    if (variable !== undefined && !v.is(key, apiKey)) {
      throw wrong(`its field ${nth}.key is wrong: the variable ${variable} must hold a key, visible ASCII without spaces`);
    }
    const baseUrl = address ?? (provider === 'anthropic' ? ANTHROPIC_BASE_URL : OPENAI_BASE_URL);
    return { provider, apiKey, baseUrl, keyHeader, model, silenceMs: silenceS * 1_000, isChecked, images };
  });
}

/**
 * Reads the configuration; empty variables count as unset.
 * @throws ConfigError naming the first variable that holds something it may not.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = v.safeParse(environment, given);
  if (!result.success) {
    const [issue] = result.issues;
    const variable = String(issue.path?.[0]?.key ?? 'The environment');
    throw new ConfigError(variable, shown(variable, given[variable] ?? ''), issue.message);
  }
  const read = result.output;
  if (read.EMBEDDING_MODEL !== undefined && read.OPENAI_API_KEY === undefined && read.OPENAI_BASE_URL === undefined) {
    throw new ConfigError(
      'EMBEDDING_MODEL',
      shown('EMBEDDING_MODEL', read.EMBEDDING_MODEL),
      'then OPENAI_BASE_URL (or OPENAI_API_KEY) must be set: embeddings come from a server',
    );
  }
  const isExposed = read.PUBLIC_URL !== undefined || !isLoopback(read.HOST);
  const server = openAiServer(read);
  return Object.freeze({
    host: read.HOST,
    port: read.PORT,
    /** Undefined: `http://HOST:PORT` with the port that was taken. */
    publicUrl: read.PUBLIC_URL,
    trustProxy: read.TRUST_PROXY,
    dataDir: read.DATA_DIR,
    // On the open internet it gives anyone turns of a model that somebody pays for (RUN-4).
    demo: read.DEMO ?? !isExposed,
    /** Others than this machine's users may reach the service: it listens beyond loopback, or has an address for clients. */
    isExposed,
    operatorToken: read.OPERATOR_TOKEN,
    masterKey: read.MASTER_KEY,
    model: modelOf(read),
    /** Asked in this order when the model fails before its first word. */
    fallbacks: fallbacksOf(read, given),
    /** Undefined: passages are found by their words only. */
    embeddings: read.EMBEDDING_MODEL === undefined ? undefined : { ...server, model: read.EMBEDDING_MODEL },
    prices: read.MODEL_PRICES,
    allowPrivateAddresses: read.ALLOW_PRIVATE_ADDRESSES,
    logLevel: read.LOG_LEVEL,
    stallMs: read.STALL_MS,
    turnLossesMax: read.TURN_LOSSES_MAX,
    traces: { days: read.TRACE_DAYS, bytes: read.TRACE_MB * 1_000_000 },
    inspector: read.INSPECTOR_TOKEN === undefined ? undefined : { token: read.INSPECTOR_TOKEN, origins: read.INSPECTOR_ORIGINS ?? [] },
    /** `url` undefined: mails are written to the outbox folder. */
    mail: { url: read.SMTP_URL, from: read.MAIL_FROM },
    /** Undefined: top-ups are recorded and no card is charged. */
    stripe: read.STRIPE_SECRET_KEY === undefined ? undefined : { secretKey: read.STRIPE_SECRET_KEY, baseUrl: read.STRIPE_BASE_URL },
    platformDailyBudgetUsd: read.PLATFORM_DAILY_BUDGET_USD ?? null,
    /** Undefined: this process is alone with its data directory. */
    cluster: clusterOf(read),
    replica: replicaOf(read),
    /** Processes that share the port; above 1 this one only looks after them. */
    workers: read.WORKERS,
    /** How many workers there are, as the process that looks after them tells; undefined: there is no supervisor. */
    supervised: read.SUPERVISED,
    banner: read.BANNER,
    warmUp: read.WARM_UP,
  });
}

/** A variable as it is in force. `value` null: there is none, or it is a secret, which is shown to nobody. */
export interface Setting {
  readonly name: string;
  readonly value: string | null;
  readonly source: 'environment' | 'default' | 'follows from others' | 'unset';
}

/** What holds of each variable, and where it came from (RUN-41). @throws ConfigError as `readConfig` does. */
export function settingsInForce(env: Readonly<Record<string, string | undefined>>): Setting[] {
  const { demo, model, publicUrl, host, port } = readConfig(env);
  const following: Readonly<Record<string, string | undefined>> = {
    DEMO: demo ? 'on' : 'off',
    PUBLIC_URL: publicUrl ?? `http://${host}:${port}`,
    MODEL_PROVIDER: model.provider,
    ...(model.provider === 'openai' && { MODEL: model.model, OPENAI_BASE_URL: model.baseUrl }),
  };
  return Object.keys(environment.entries).map((name) => {
    const given = env[name];
    if (given !== undefined && given !== '') {
      // A key may stand in an address's query, too.
      const value = isSecret(name) || HOLDS_PASSWORD.test(given) ? null : given.replace(/^(\w+:\/\/[^?]*)\?.*$/s, '$1?…');
      return { name, value, source: 'environment' };
    }
    const standard = defaultOf(name);
    if (standard !== undefined) return { name, value: standard, source: 'default' };
    const value = following[name];
    return value === undefined ? { name, value: null, source: 'unset' } : { name, value, source: 'follows from others' };
  });
}
