/** Every environment variable that is read: what it may hold, and what it is when unset. docs/operations.md says what each is for. */
import * as v from 'valibot';
import { isRedisAddress, REDIS_ADDRESS_RULE } from '../actors/cluster/bus/redis-client.ts';
import { KEY_HEADERS } from '../assistant/models/stream/upstream-model.ts';
import { pricesSchema } from '../assistant/prices.ts';
import { proxyTrust } from '../gateway/http/client-address.ts';
import { MODEL_SILENCE_MS } from '../protocol/limits.ts';
import { withoutEnd } from '../protocol/schema/text.ts';

/** A variable that the service cannot start with: one line that names it, what it holds and what it may hold. */
export class ConfigError extends Error {
  constructor(variable: string, held: string, allowed: string) {
    super(`${variable} is ${held}, but ${allowed}.`);
    this.name = 'ConfigError';
  }
}

/** Names of nodes and cells: they show in paths, channels and tables. */
const NAME = /^[0-9A-Za-z._-]{1,64}$/;
const NAME_RULE = '1 to 64 letters, digits, dots, underscores or hyphens';
const MODEL_NAME_MAX_CHARS = 200;

export const httpUrl = v.pipe(
  v.string(),
  v.check((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'it must be an http or https address'),
  v.transform((text) => withoutEnd(text, '/')),
);

/** Paths are put behind it, and browsers compare its origin. */
const httpOrigin = v.pipe(
  httpUrl,
  v.check((text) => URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`, 'it must be an address without a path'),
);

const modelName = v.pipe(v.string(), v.maxLength(MODEL_NAME_MAX_CHARS, `it may have at most ${MODEL_NAME_MAX_CHARS} characters`));

const REMOTE_PROVIDERS = ['openai', 'openai-responses', 'anthropic'] as const;
const PROVIDERS = ['offline', ...REMOTE_PROVIDERS] as const;

/** Visible ASCII: what a key may hold that travels in a header. */
export const key = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/, 'it must be visible ASCII without spaces'));

const flag = v.pipe(
  v.picklist(['true', 'false', 'on', 'off', '1', '0'], 'it may be true or false (also on, off, 1, 0)'),
  v.transform((text) => text === 'true' || text === 'on' || text === '1'),
);

/** A whole number within two bounds; `unit` completes "a number". */
function numberBetween(min: number, max: number, unit = '') {
  const must = `it must be a number${unit} from ${min} to ${max}`;
  return v.pipe(v.string(), v.regex(/^\d{1,5}$/, must), v.transform(Number), v.minValue(min, must), v.maxValue(max, must));
}

/** Pages of other sites are few: whoever lists more means something else. */
const ORIGINS_MAX = 16;

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
}

/** Origins as browsers write them, between commas. */
const origins = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))),
  v.check((list) => list.every(isOrigin), 'it must be origins such as https://viewer.example, with commas between them'),
  v.maxLength(ORIGINS_MAX, `it may have at most ${ORIGINS_MAX} origins`),
);

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Models that stand in for the first, in order. More would not be asked in one turn. */
const MODELS_MAX = 4;

const listedModel = v.strictObject({
  provider: v.picklist(REMOTE_PROVIDERS, `must be ${REMOTE_PROVIDERS.join(', ')}`),
  model: v.pipe(modelName, v.minLength(1, 'must name a model')),
  address: v.optional(httpUrl),
  // A name, so that the list holds no secret.
  key: v.optional(v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be the name of the variable that holds the key'))),
  key_header: v.optional(v.picklist(KEY_HEADERS, `must be ${KEY_HEADERS.join(', ')}`)),
  images: v.optional(v.boolean('must be true or false'), true),
});

/** Its message names the field. */
const modelList = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const list = v.pipe(
      v.array(listedModel, 'it must be a list in JSON'),
      v.maxLength(MODELS_MAX, `it may have at most ${MODELS_MAX} models`),
    );
    const result = v.safeParse(list, json(dataset.value));
    if (result.success) return result.output;
    const [issue] = result.issues;
    const names = Object.keys(listedModel.entries);
    const [nth, name = ''] = issue.path?.map(({ key: at }) => String(at)) ?? [];
    const field = names.includes(name) ? `${nth}.${name}` : nth;
    // The library's own words quote what came, which may be a key; and so may a field that is none of these.
    const why = issue.message.startsWith('Invalid ')
      ? `it must be an object of ${names.join(', ')} alone, each a text but images`
      : issue.message;
    addIssue({ message: field === undefined ? why : `its field ${field} is wrong: ${why}` });
    return NEVER;
  }),
);

const name = v.pipe(v.string(), v.regex(NAME, `it must be ${NAME_RULE}`));

const TOKEN_MIN_CHARS = 24;
const TOKEN_RULE = `it must have at least ${TOKEN_MIN_CHARS} characters`;
const MASTER_KEY_BYTES = 32;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** Each worker is a process of some 150 MB; more than this on one host is a mistake in the configuration. */
const WORKERS_MAX = 64;
/** A file, and the stores that Litestream 0.3 and 0.5 both write to. */
const REPLICA_URL_FORM = /^(?:s3|gs|abs|sftp|file):\/\/[^\s"'$]+$/;

/** Never shown in a message: each holds a key, or a password inside an address. */
const secrets = {
  OPERATOR_TOKEN: v.optional(v.pipe(v.string(), v.minLength(TOKEN_MIN_CHARS, TOKEN_RULE))),
  INSPECTOR_TOKEN: v.optional(v.pipe(key, v.minLength(TOKEN_MIN_CHARS, TOKEN_RULE))),
  MASTER_KEY: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => /^[A-Za-z0-9+/]+=*$/.test(text) && Buffer.from(text, 'base64').length === MASTER_KEY_BYTES,
        `it must be ${MASTER_KEY_BYTES} bytes in base64`,
      ),
    ),
  ),
  OPENAI_API_KEY: v.optional(key),
  ANTHROPIC_API_KEY: v.optional(key),
  // Somebody may write a key into it all the same.
  MODELS: v.optional(modelList, '[]'),
  REDIS_URL: v.optional(v.pipe(v.string(), v.check(isRedisAddress, REDIS_ADDRESS_RULE))),
  SMTP_URL: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.canParse(text) && /^smtps?:\/\/[^/]/.test(text), 'it must be an smtp or smtps address'),
    ),
  ),
  STRIPE_SECRET_KEY: v.optional(key),
  AWS_SECRET_ACCESS_KEY: v.optional(v.string()),
};

export const environment = v.object({
  ...secrets,
  HOST: v.optional(v.pipe(v.string(), v.regex(/^[0-9A-Za-z.:-]+$/, 'it must be a host name or address')), '127.0.0.1'),
  PORT: v.optional(numberBetween(0, 65_535), '8787'),
  PUBLIC_URL: v.optional(httpOrigin),
  TRUST_PROXY: v.optional(proxyTrust),
  DATA_DIR: v.optional(v.pipe(v.string(), v.minLength(1, 'it must name a directory')), './data'),
  DEMO: v.optional(flag),
  MODEL_PROVIDER: v.optional(v.picklist(PROVIDERS, `it may be ${PROVIDERS.join(', ')}`)),
  OPENAI_BASE_URL: v.optional(httpUrl),
  ANTHROPIC_BASE_URL: v.optional(httpUrl),
  MODEL_KEY_HEADER: v.optional(v.picklist(KEY_HEADERS, `it may be ${KEY_HEADERS.join(', ')}`)),
  MODEL: v.optional(modelName),
  MODEL_IMAGES: v.optional(flag, 'on'),
  // A cold model on a small machine takes minutes to load; after half an hour there is no answer to expect.
  MODEL_SILENCE_S: v.optional(numberBetween(5, 1_800, ' of seconds'), String(MODEL_SILENCE_MS / 1_000)),
  MODEL_CHECK: v.optional(flag, 'on'),
  EMBEDDING_MODEL: v.optional(modelName),
  MODEL_PRICES: v.optional(
    v.pipe(
      v.string(),
      v.transform(json),
      v.check((value) => value !== undefined, 'it must be JSON'),
      pricesSchema,
    ),
    '{}',
  ),
  ALLOW_PRIVATE_ADDRESSES: v.optional(flag, 'false'),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `it may be ${LOG_LEVELS.join(', ')}`), 'info'),
  // The watch has a resolution of 10 ms.
  STALL_MS: v.optional(numberBetween(10, 99_999, ' of milliseconds'), '200'),
  TURN_LOSSES_MAX: v.optional(numberBetween(1, 999), '2'),
  TRACE_DAYS: v.optional(numberBetween(1, 999, ' of days'), '30'),
  TRACE_MB: v.optional(numberBetween(1, 99_999, ' of megabytes'), '64'),
  INSPECTOR_ORIGINS: v.optional(origins),
  NODE_ID: v.optional(name),
  WORKERS: v.optional(numberBetween(1, WORKERS_MAX), '1'),
  CELL_ID: v.optional(name),
  CELL_URL: v.optional(httpUrl),
  SUPERVISED: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,2}$/, 'only the process that looks after workers sets it'), v.transform(Number)),
  ),
  BANNER: v.optional(flag, 'on'),
  WARM_UP: v.optional(flag, 'off'),
  REPLICA_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => REPLICA_URL_FORM.test(text) && URL.canParse(text) && !(text.startsWith('file://') && !text.startsWith('file:///')),
        'it must be an address such as s3://bucket/prefix or file:///backup/replica',
      ),
    ),
  ),
  LITESTREAM_BIN: v.optional(v.pipe(v.string(), v.minLength(1, 'it must name a program')), 'litestream'),
  REPLICA_LAG_MAX_S: v.optional(numberBetween(1, 99_999, ' of seconds'), '60'),
  REPLICA_INCLUDE_KEY: v.optional(flag, 'off'),
  AWS_ACCESS_KEY_ID: v.optional(v.string()),
  AWS_REGION: v.optional(v.string(), 'us-east-1'),
  AWS_ENDPOINT_URL: v.optional(v.string()),
  MAIL_FROM: v.optional(
    v.pipe(v.string(), v.regex(/^(?:[^<>\r\n]* )?<?[^\s<>@]+@[^\s<>@]+>?$/, 'it must be an e-mail address, or Name <address>')),
    'Assistant Service <assistant@localhost>',
  ),
  STRIPE_BASE_URL: v.optional(httpOrigin),
  PLATFORM_DAILY_BUDGET_USD: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'it must be an amount of US dollars, such as 250 or 12.50'), v.transform(Number)),
  ),
});

export type Settings = v.InferOutput<typeof environment>;

export function isSecret(variable: string): boolean {
  return Object.hasOwn(secrets, variable);
}

/** What a variable is when it is unset, as it would be written; undefined: it has no value of its own then. */
export function defaultOf(variable: string): string | undefined {
  const entry = environment.entries[variable as keyof typeof environment.entries];
  const standard: unknown = entry.default;
  return typeof standard === 'string' ? standard : undefined;
}
