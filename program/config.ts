/** Environment → one frozen, validated Config (RUN-2). Nothing else reads `process.env`. */
import { distance } from 'fastest-levenshtein';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import type { PriceTable } from '../assistant/prices.ts';
import type { ProxyTrust } from '../gateway/http/client-address.ts';
import type { InspectorConfig } from '../gateway/services.ts';
import { type ClusterConfig, clusterOf } from './config-cluster.ts';
import { type ReplicaConfig, replicaOf } from './config-replica.ts';
import { ConfigError, environment, isSecret } from './settings.ts';

export type { CellConfig, ClusterConfig } from './config-cluster.ts';
export type { ReplicaConfig } from './config-replica.ts';
export { ConfigError } from './settings.ts';

export interface Config {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** How clients reach the service; undefined: `http://HOST:PORT` with the port that was taken. */
  readonly publicUrl: string | undefined;
  /** Which proxies are trusted about a client's address; undefined: none. */
  readonly trustProxy: ProxyTrust | undefined;
  readonly dataDir: string;
  readonly demo: boolean;
  /** Others than this machine's users may reach the service: it listens beyond loopback, or has an address for clients. */
  readonly isExposed: boolean;
  readonly operatorToken: string | undefined;
  readonly masterKey: string | undefined;
  readonly model: { readonly provider: 'offline' } | OpenAiConfig;
  /** Undefined: passages are found by their words only. */
  readonly embeddings: EmbeddingsConfig | undefined;
  readonly prices: PriceTable;
  /** Development only: links and HTTP actions may lead to loopback and private addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly logLevel: string;
  /** Lateness from which a stretch of the event loop is logged. */
  readonly stallMs: number;
  /** Processes that may be lost while they answer one turn; then it is not tried again. */
  readonly turnLossesMax: number;
  /** How long the steps of machines are kept, and how many bytes of them, of each organisation. */
  readonly traces: { readonly days: number; readonly bytes: number };
  /** Undefined: viewers that speak the inspector's frames cannot look. */
  readonly inspector: InspectorConfig | undefined;
  /** `url` undefined: mails are written to the outbox folder. */
  readonly mail: { readonly url: string | undefined; readonly from: string };
  /** Undefined: top-ups are recorded and no card is charged. */
  readonly stripe: { readonly secretKey: string; readonly baseUrl: string | undefined } | undefined;
  /** Null: there is no platform-wide daily ceiling. */
  readonly platformDailyBudgetUsd: number | null;
  /** Undefined: this process is alone with its data directory. */
  readonly cluster: ClusterConfig | undefined;
  /** Undefined: nothing is replicated. */
  readonly replica: ReplicaConfig | undefined;
  /** Processes that share the port; above 1 this one only looks after them. */
  readonly workers: number;
  /** Set by the process that looks after the workers: how many there are; undefined: there is no supervisor. */
  readonly supervised: number | undefined;
  /** The start says on stdout where everything is. */
  readonly banner: boolean;
}

export interface OpenAiConfig {
  readonly provider: 'openai';
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly model: string;
  /** How long its server may be silent during a turn. */
  readonly silenceMs: number;
  /** Whether it is asked once at the start, so that what is wrong shows at once. */
  readonly isChecked: boolean;
}

export interface EmbeddingsConfig {
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly model: string;
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'gpt-4.1-mini';

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

/**
 * Reads the configuration; empty variables count as unset.
 * @throws ConfigError naming the first variable that holds something it may not.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = v.safeParse(environment, given);
  if (!result.success) {
    const [issue] = result.issues;
    const variable = String(issue.path?.[0]?.key ?? 'The environment');
    throw new ConfigError(variable, shown(variable, given[variable] ?? ''), issue.message);
  }
  const read = result.output;
  const provider = read.MODEL_PROVIDER ?? (read.OPENAI_API_KEY || read.OPENAI_BASE_URL ? 'openai' : 'offline');
  if (provider === 'openai' && read.OPENAI_API_KEY === undefined && read.OPENAI_BASE_URL === undefined) {
    throw new ConfigError(
      'MODEL_PROVIDER',
      '"openai"',
      'then OPENAI_API_KEY must be set, or OPENAI_BASE_URL for a server that wants no key',
    );
  }
  if (read.EMBEDDING_MODEL !== undefined && read.OPENAI_API_KEY === undefined && read.OPENAI_BASE_URL === undefined) {
    throw new ConfigError(
      'EMBEDDING_MODEL',
      shown('EMBEDDING_MODEL', read.EMBEDDING_MODEL),
      'then OPENAI_BASE_URL (or OPENAI_API_KEY) must be set: embeddings come from a server',
    );
  }
  const cluster = clusterOf(read);
  const isExposed = read.PUBLIC_URL !== undefined || !isLoopback(read.HOST);
  const turns = { silenceMs: read.MODEL_SILENCE_S * 1_000, isChecked: read.MODEL_CHECK };
  const server = { apiKey: read.OPENAI_API_KEY, baseUrl: read.OPENAI_BASE_URL ?? OPENAI_BASE_URL };
  return Object.freeze({
    host: read.HOST,
    port: read.PORT,
    publicUrl: read.PUBLIC_URL,
    trustProxy: read.TRUST_PROXY,
    dataDir: read.DATA_DIR,
    // On the open internet it gives anyone turns of a model that somebody pays for (RUN-4).
    demo: read.DEMO ?? !isExposed,
    isExposed,
    operatorToken: read.OPERATOR_TOKEN,
    masterKey: read.MASTER_KEY,
    model: provider === 'offline' ? { provider } : { provider, ...server, ...turns, model: read.MODEL ?? OPENAI_MODEL },
    embeddings: read.EMBEDDING_MODEL === undefined ? undefined : { ...server, model: read.EMBEDDING_MODEL },
    prices: read.MODEL_PRICES,
    allowPrivateAddresses: read.ALLOW_PRIVATE_ADDRESSES,
    logLevel: read.LOG_LEVEL,
    stallMs: read.STALL_MS,
    turnLossesMax: read.TURN_LOSSES_MAX,
    traces: { days: read.TRACE_DAYS, bytes: read.TRACE_MB * 1_000_000 },
    inspector: read.INSPECTOR_TOKEN === undefined ? undefined : { token: read.INSPECTOR_TOKEN, origins: read.INSPECTOR_ORIGINS ?? [] },
    mail: { url: read.SMTP_URL, from: read.MAIL_FROM },
    stripe: read.STRIPE_SECRET_KEY === undefined ? undefined : { secretKey: read.STRIPE_SECRET_KEY, baseUrl: read.STRIPE_BASE_URL },
    platformDailyBudgetUsd: read.PLATFORM_DAILY_BUDGET_USD ?? null,
    cluster,
    replica: replicaOf(read),
    workers: read.WORKERS,
    supervised: read.SUPERVISED,
    banner: read.BANNER,
  });
}
