/** The environment: what each variable is when unset, what it may hold, and the one line that says so when it does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Config, ConfigError, readConfig } from '../../program/config.ts';
import { startAndFail } from '../support/service.ts';

function refusal(env: Readonly<Record<string, string>>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail(`${JSON.stringify(env)} was accepted`);
}

const KEY_BYTES = Buffer.alloc(32, 7).toString('base64');

interface Case {
  readonly variable: string;
  readonly read: (config: Config) => unknown;
  readonly unset: unknown;
  /** What it may hold → what that becomes. */
  readonly good: Readonly<Record<string, unknown>>;
  readonly bad: readonly string[];
  /** What it may hold, as the refusal says it. */
  readonly allowed: RegExp;
  readonly secret?: true;
}

/** Tells a model apart from the provider that runs it. */
function openAi(config: Config) {
  return config.model.provider === 'openai' ? config.model : undefined;
}

function anthropic(config: Config) {
  return config.model.provider === 'anthropic' ? config.model : undefined;
}

const CASES: readonly Case[] = [
  {
    variable: 'HOST',
    read: (config) => config.host,
    unset: '127.0.0.1',
    good: { '0.0.0.0': '0.0.0.0', '::1': '::1', 'api.example.com': 'api.example.com' },
    bad: ['two words', 'a/b', 'http://x'],
    allowed: /must be a host name or address/,
  },
  {
    variable: 'PORT',
    read: (config) => config.port,
    unset: 8787,
    good: { '0': 0, '80': 80, '65535': 65_535 },
    bad: ['65536', '-1', '80.5', 'http', '8 0'],
    allowed: /must be a number from 0 to 65535/,
  },
  {
    variable: 'PUBLIC_URL',
    read: (config) => config.publicUrl,
    unset: undefined,
    good: { 'https://help.example.com': 'https://help.example.com', 'http://localhost:1//': 'http://localhost:1' },
    bad: ['help.example.com', 'ftp://example.com', 'https://', 'https://a.example/x', 'https://a.example?x', 'https://a.example#x'],
    allowed: /must be an (?:http or https address|address without a path)/,
  },
  {
    variable: 'DATA_DIR',
    read: (config) => config.dataDir,
    unset: './data',
    good: { '/var/lib/assistant': '/var/lib/assistant' },
    bad: [],
    allowed: /./,
  },
  {
    variable: 'WARM_UP',
    read: (config) => config.warmUp,
    unset: false,
    good: { on: true, off: false },
    bad: ['yes', '3'],
    allowed: /may be true or false/,
  },
  {
    variable: 'DEMO',
    read: (config) => config.demo,
    unset: true,
    good: { true: true, on: true, '1': true, false: false, off: false, '0': false },
    bad: ['yes', 'TRUE', '2'],
    allowed: /may be true or false/,
  },
  {
    variable: 'OPERATOR_TOKEN',
    read: (config) => config.operatorToken,
    unset: undefined,
    good: { ['t'.repeat(24)]: 't'.repeat(24) },
    bad: ['s'.repeat(23)],
    allowed: /at least 24 characters/,
    secret: true,
  },
  {
    variable: 'MASTER_KEY',
    read: (config) => config.masterKey,
    unset: undefined,
    good: { [KEY_BYTES]: KEY_BYTES },
    bad: [Buffer.alloc(31, 7).toString('base64'), `${'k'.repeat(40)}!`, Buffer.alloc(33, 7).toString('base64')],
    allowed: /32 bytes in base64/,
    secret: true,
  },
  {
    variable: 'MODEL_PROVIDER',
    read: (config) => config.model.provider,
    unset: 'offline',
    good: { offline: 'offline' },
    bad: ['claude', 'OpenAI'],
    allowed: /may be offline, openai, openai-responses, anthropic/,
  },
  {
    variable: 'OPENAI_API_KEY',
    read: (config) => openAi(config)?.apiKey,
    unset: undefined,
    good: { 'sk-abc': 'sk-abc' },
    bad: ['sk-with a blank', 'sk-línea'],
    allowed: /visible ASCII without spaces/,
    secret: true,
  },
  {
    variable: 'ANTHROPIC_API_KEY',
    read: (config) => anthropic(config)?.apiKey,
    unset: undefined,
    good: { 'sk-ant-abc': 'sk-ant-abc' },
    bad: ['sk-ant-with a blank'],
    allowed: /visible ASCII without spaces/,
    secret: true,
  },
  {
    variable: 'ANTHROPIC_BASE_URL',
    read: (config) => anthropic(config)?.baseUrl,
    unset: undefined,
    good: { 'http://127.0.0.1:8080/': 'http://127.0.0.1:8080' },
    bad: ['127.0.0.1:8080'],
    allowed: /must be an http or https address/,
  },
  {
    variable: 'MODELS',
    read: (config) => config.fallbacks.length,
    unset: 0,
    good: { '[]': 0 },
    bad: ['gpt', '{}', '[{"provider":"openai"}]', '[{"provider":"openai","model":"m","key":"sk-1"}]'],
    allowed: /must be a list in JSON|its field 0\.(model|key) is wrong/,
    secret: true,
  },
  {
    variable: 'MODEL_KEY_HEADER',
    read: (config) => openAi(config)?.keyHeader,
    unset: undefined,
    good: {},
    bad: ['cookie', 'API-KEY'],
    allowed: /may be authorization, api-key, x-api-key/,
  },
  {
    variable: 'OPENAI_BASE_URL',
    read: (config) => openAi(config)?.baseUrl,
    unset: undefined,
    good: { 'http://127.0.0.1:11434/v1/': 'http://127.0.0.1:11434/v1' },
    bad: ['127.0.0.1:11434', 'file:///x'],
    allowed: /must be an http or https address/,
  },
  {
    variable: 'MODEL',
    read: (config) => openAi(config)?.model,
    unset: undefined,
    good: {},
    bad: ['m'.repeat(201)],
    allowed: /at most 200 characters/,
  },
  {
    // These belong to a model server; the offline model neither waits nor is asked.
    variable: 'MODEL_SILENCE_S',
    read: (config) => openAi(config)?.silenceMs,
    unset: undefined,
    good: { '5': undefined, '1800': undefined },
    bad: ['4', '1801', '30.5', '0', 'long'],
    allowed: /must be a number of seconds from 5 to 1800/,
  },
  {
    variable: 'MODEL_CHECK',
    read: (config) => openAi(config)?.isChecked,
    unset: undefined,
    good: { on: undefined },
    bad: ['yes'],
    allowed: /may be true or false/,
  },
  {
    variable: 'MODEL_PRICES',
    read: (config) => config.prices,
    unset: {},
    good: { '{"mine":{"input":0.5,"output":2}}': { mine: { input: 0.5, output: 2 } } },
    bad: ['{"mine":', '[]', '{"mine":{"input":-1,"output":2}}', '{"mine":{"input":1}}', '{"mine":{"input":1,"output":1,"cached":1}}'],
    allowed: /must|Invalid/,
  },
  {
    variable: 'TRUST_PROXY',
    read: (config) => config.trustProxy?.header,
    unset: undefined,
    good: {
      '1': 'x-forwarded-for',
      '10.0.0.0/8, 2001:db8::7': 'x-forwarded-for',
      'forwarded,16': 'forwarded',
      'Forwarded, 127.0.0.1': 'forwarded',
    },
    bad: [
      '0',
      '17',
      'true',
      'forwarded',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/8/8',
      '10.0.0.1,',
      '0x7f.1',
      '::ffff:10.0.0.0/8',
      '1,10.0.0.1',
    ],
    allowed: /must be the number of proxies in front \(1 to 16\), or their addresses and networks/,
  },
  {
    variable: 'ALLOW_PRIVATE_ADDRESSES',
    read: (config) => config.allowPrivateAddresses,
    unset: false,
    good: { true: true, on: true, '1': true, false: false, off: false },
    bad: ['yes'],
    allowed: /may be true or false/,
  },
  {
    variable: 'LOG_LEVEL',
    read: (config) => config.logLevel,
    unset: 'info',
    good: { fatal: 'fatal', error: 'error', warn: 'warn', info: 'info', debug: 'debug', trace: 'trace', silent: 'silent' },
    bad: ['verbose', 'INFO'],
    allowed: /may be fatal, error, warn, info, debug, trace, silent/,
  },
  {
    variable: 'STALL_MS',
    read: (config) => config.stallMs,
    unset: 200,
    good: { '10': 10, '50': 50, '99999': 99_999 },
    bad: ['9', '0.5', '100000', 'never'],
    allowed: /milliseconds from 10 to 99999/,
  },
  {
    variable: 'TURN_LOSSES_MAX',
    read: (config) => config.turnLossesMax,
    unset: 2,
    good: { '1': 1, '999': 999 },
    bad: ['0', '1000', '1.5', 'never'],
    allowed: /number from 1 to 999/,
  },
  {
    variable: 'TRACE_DAYS',
    read: (config) => config.traces.days,
    unset: 30,
    good: { '1': 1, '999': 999 },
    bad: ['0', '1000', '1.5', 'never'],
    allowed: /days from 1 to 999/,
  },
  {
    variable: 'TRACE_MB',
    read: (config) => config.traces.bytes,
    unset: 64_000_000,
    good: { '1': 1_000_000, '99999': 99_999_000_000 },
    bad: ['0', '100000', '0.5', 'much'],
    allowed: /megabytes from 1 to 99999/,
  },
  {
    variable: 'INSPECTOR_TOKEN',
    read: (config) => config.inspector?.token,
    unset: undefined,
    good: { 'a-token-of-24-characters': 'a-token-of-24-characters' },
    bad: ['a-token-of-23-character', 'a token of 24 characters'],
    allowed: /must have at least 24 characters|visible ASCII/,
    secret: true,
  },
  {
    variable: 'SMTP_URL',
    read: (config) => config.mail.url,
    unset: undefined,
    good: {
      'smtp://mail.example.com': 'smtp://mail.example.com',
      'smtps://user:pass@mail.example.com:465': 'smtps://user:pass@mail.example.com:465',
    },
    bad: ['mail.example.com', 'https://user:hunter2@mail.example.com', 'smtp://'],
    allowed: /must be an smtp or smtps address/,
    secret: true,
  },
  {
    variable: 'MAIL_FROM',
    read: (config) => config.mail.from,
    unset: 'Assistant Service <assistant@localhost>',
    good: { 'help@example.com': 'help@example.com', 'Corner Shop <help@example.com>': 'Corner Shop <help@example.com>' },
    bad: ['help', 'help@', 'Corner Shop', 'a@b c'],
    allowed: /must be an e-mail address/,
  },
  {
    variable: 'STRIPE_SECRET_KEY',
    read: (config) => config.stripe,
    unset: undefined,
    good: { sk_test_1: { secretKey: 'sk_test_1', baseUrl: undefined } },
    bad: ['sk test 1'],
    allowed: /visible ASCII without spaces/,
    secret: true,
  },
  {
    variable: 'STRIPE_BASE_URL',
    // Without a key nothing is charged, wherever the server is.
    read: (config) => config.stripe,
    unset: undefined,
    good: { 'http://localhost:12111': undefined, 'https://stripe.example/': undefined },
    bad: ['localhost', 'https://stripe.example/v1'],
    allowed: /must be an (?:http or https address|address without a path)/,
  },
  {
    variable: 'PLATFORM_DAILY_BUDGET_USD',
    read: (config) => config.platformDailyBudgetUsd,
    unset: null,
    good: { '0': 0, '250': 250, '12.50': 12.5 },
    bad: ['-1', '1e3', '$5', '1,000'],
    allowed: /amount of US dollars/,
  },
  {
    variable: 'REDIS_URL',
    read: (config) => config.cluster,
    unset: undefined,
    good: {
      'redis://127.0.0.1:6379': { redisUrl: 'redis://127.0.0.1:6379', nodeId: undefined, cell: undefined },
      'rediss://user:pass@cache.example.com/1': { redisUrl: 'rediss://user:pass@cache.example.com/1', nodeId: undefined, cell: undefined },
      'rediss+sentinel://me:a%40b@s1:26379,[::1]:26379/main?sentinel_password=p': {
        redisUrl: 'rediss+sentinel://me:a%40b@s1:26379,[::1]:26379/main?sentinel_password=p',
        nodeId: undefined,
        cell: undefined,
      },
    },
    bad: [
      'cache:6379',
      'http://user:hunter2@cache:6379',
      'redis:///0',
      'redis+sentinel://s1:26379',
      'redis+sentinel://s1/main',
      'redis+sentinel://me:%zz@s1:26379/main',
      'redis+sentinel://s1:99999/main',
      'redis+sentinel://s1:26379,/main',
      `redis+sentinel://${Array.from({ length: 33 }, () => 's:1').join(',')}/main`,
      'redis+cluster://c1:6379,c2:6379',
    ],
    allowed: /must be an address such as redis:/,
    secret: true,
  },
  {
    // Without Redis there is nobody to tell it to.
    variable: 'NODE_ID',
    read: (config) => config.cluster,
    unset: undefined,
    good: { 'node-1.eu_west': undefined },
    bad: ['node 1', 'n'.repeat(65)],
    allowed: /1 to 64 letters, digits/,
  },
  {
    variable: 'WORKERS',
    read: (config) => config.workers,
    unset: 1,
    good: { 1: 1 },
    bad: ['0', '65', 'many', '1.0'],
    allowed: /must be a number from 1 to 64/,
  },
];

/** The refusal of a bad value, with the rules that hold for every one of them. */
function checkRefusal(variable: string, value: string, allowed: RegExp, secret: boolean): void {
  const message = refusal({ [variable]: value });
  assert.ok(message.startsWith(`${variable} is `), message);
  assert.match(message, allowed);
  assert.doesNotMatch(message, /[\r\n]/, 'one line');
  if (secret) assert.ok(!message.includes(value), `the secret is shown: ${message}`);
  else assert.ok(message.includes(JSON.stringify(value)), `what it holds is missing: ${message}`);
}

describe('RUN-2: every variable, unset, good and bad', () => {
  for (const { variable, read, unset, good, bad, allowed, secret } of CASES) {
    test(`${variable} has its default when unset or empty`, () => {
      assert.deepEqual(read(readConfig({})), unset);
      assert.deepEqual(read(readConfig({ [variable]: '' })), unset);
      assert.deepEqual(read(readConfig({ [variable]: undefined })), unset);
    });

    test(`${variable} takes what it may hold, and refuses the rest in one line that ${secret ? 'hides' : 'shows'} it`, () => {
      for (const [value, becomes] of Object.entries(good)) assert.deepEqual(read(readConfig({ [variable]: value })), becomes, value);
      for (const value of bad) checkRefusal(variable, value, allowed, secret === true);
    });
  }

  test('INSPECTOR_ORIGINS are origins as browsers write them, at most 16', () => {
    const INSPECTOR_TOKEN = 'a-token-of-24-characters';
    const origins = (text: string) => readConfig({ INSPECTOR_TOKEN, INSPECTOR_ORIGINS: text }).inspector?.origins;
    assert.deepEqual(origins(''), []);
    assert.deepEqual(origins('https://a.example, http://localhost:3000'), ['https://a.example', 'http://localhost:3000']);
    const sixteen = Array.from({ length: 16 }, (_, n) => `https://${n}.example`).join(',');
    assert.equal(origins(sixteen)?.length, 16);
    for (const bad of ['a.example', 'https://a.example/', 'https://A.example', 'ftp://a.example', '*'])
      checkRefusal('INSPECTOR_ORIGINS', bad, /must be origins such as/, false);
    checkRefusal('INSPECTOR_ORIGINS', `${sixteen},https://17.example`, /at most 16 origins/, false);
  });

  test('MODEL-26: EMBEDDING_MODEL is off when unset, and asks the same server with the same key as the model', () => {
    assert.equal(readConfig({}).embeddings, undefined);
    assert.equal(readConfig({ OPENAI_API_KEY: 'sk-1', EMBEDDING_MODEL: '' }).embeddings, undefined);
    assert.deepEqual(readConfig({ EMBEDDING_MODEL: 'e5', OPENAI_API_KEY: 'sk-1' }).embeddings, {
      apiKey: 'sk-1',
      baseUrl: 'https://api.openai.com/v1',
      model: 'e5',
    });
    const offline = readConfig({ EMBEDDING_MODEL: 'e5', MODEL_PROVIDER: 'offline', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    assert.deepEqual(
      [offline.model, offline.embeddings],
      [{ provider: 'offline' }, { apiKey: undefined, baseUrl: 'http://127.0.0.1:9/v1', model: 'e5' }],
    );
  });

  test('RUN-3: EMBEDDING_MODEL is refused when it is too long, and without a server to ask', () => {
    checkRefusal('EMBEDDING_MODEL', 'e'.repeat(201), /at most 200 characters/, false);
    checkRefusal('EMBEDDING_MODEL', 'e5', /OPENAI_BASE_URL \(or OPENAI_API_KEY\) must be set/, false);
    assert.match(refusal({ EMBEDDING_MODEL: 'e5', MODEL_PROVIDER: 'offline' }), /^EMBEDDING_MODEL is "e5", but then OPENAI_BASE_URL/);
  });

  test('RUN-3: several processes and cells need REDIS_URL, and a cell an address', () => {
    const REDIS_URL = 'redis://127.0.0.1:6379';
    assert.match(refusal({ WORKERS: '4' }), /^WORKERS is "4", but then REDIS_URL must be set/);
    assert.match(refusal({ CELL_ID: 'eu' }), /^CELL_ID is "eu", but then REDIS_URL must be set/);
    const MASTER_KEY = Buffer.alloc(32, 1).toString('base64');
    const OPERATOR_TOKEN = 'operator-token-of-all-cells';
    assert.match(refusal({ CELL_ID: 'eu', REDIS_URL }), /^CELL_ID is "eu", but then OPERATOR_TOKEN must be set/);
    assert.match(refusal({ CELL_ID: 'eu', REDIS_URL, OPERATOR_TOKEN }), /^CELL_ID is "eu", but then MASTER_KEY must be set/);
    const shared = { REDIS_URL, OPERATOR_TOKEN, MASTER_KEY };
    const guarded = { ...shared, REDIS_URL: 'redis+sentinel://s:26379/main' };
    assert.match(refusal({ CELL_ID: 'eu', ...guarded }), /^CELL_ID is "eu", but then REDIS_URL must name one server/);
    assert.match(refusal({ CELL_ID: 'eu', ...shared }), /^CELL_ID is "eu", but then CELL_URL \(or PUBLIC_URL\) must say/);
    assert.match(refusal({ CELL_ID: 'e u', REDIS_URL }), /^CELL_ID is "e u", but it must be 1 to 64 letters/);
    assert.match(refusal({ CELL_URL: 'eu:8787' }), /^CELL_URL is "eu:8787", but it must be an http or https address/);
    const cell = { id: 'eu', url: 'http://10.0.0.2:8787' };
    assert.deepEqual(readConfig({ ...shared, CELL_ID: 'eu', CELL_URL: `${cell.url}/` }).cluster?.cell, cell);
    assert.deepEqual(readConfig({ ...shared, CELL_ID: 'eu', PUBLIC_URL: cell.url }).cluster?.cell, cell);
    assert.equal(readConfig({ REDIS_URL, NODE_ID: 'n1' }).cluster?.nodeId, 'n1');
    assert.equal(readConfig({ REDIS_URL, WORKERS: '4' }).workers, 4);
  });

  test('a password inside an address is not shown either', () => {
    assert.doesNotMatch(refusal({ PUBLIC_URL: 'ftp://ada:hunter2@example.com' }), /hunter2/);
    assert.doesNotMatch(refusal({ STRIPE_BASE_URL: 'ftp://ada:hunter2@example.com' }), /hunter2/);
  });
});

describe('RUN-3: which model is configured', () => {
  test('a key or an address of an OpenAI server chooses it; nothing of the two is the offline model', () => {
    assert.deepEqual(readConfig({}).model, { provider: 'offline' });
    assert.deepEqual(readConfig({ OPENAI_API_KEY: 'sk-1' }).model, {
      provider: 'openai',
      apiKey: 'sk-1',
      keyHeader: undefined,
      baseUrl: 'https://api.openai.com/v1',
      model: 'gpt-4.1-mini',
      silenceMs: 30_000,
      isChecked: true,
      images: true,
    });
    const local = { OPENAI_BASE_URL: 'http://localhost:11434/v1', MODEL: 'llama3', MODEL_SILENCE_S: '300', MODEL_CHECK: 'off' };
    assert.deepEqual(readConfig(local).model, {
      provider: 'openai',
      apiKey: undefined,
      keyHeader: undefined,
      baseUrl: 'http://localhost:11434/v1',
      model: 'llama3',
      silenceMs: 300_000,
      isChecked: false,
      images: true,
    });
  });

  test('MODEL_PROVIDER names the wire, and a key of Anthropic alone chooses its', () => {
    const remote = (env: Record<string, string>) => {
      const { model } = readConfig(env);
      return model.provider === 'offline' ? undefined : [model.provider, model.apiKey, model.baseUrl, model.model, model.keyHeader];
    };
    const anthropic = ['anthropic', 'sk-ant-1', 'https://api.anthropic.com', 'claude-haiku-4-5', undefined];
    assert.deepEqual(remote({ ANTHROPIC_API_KEY: 'sk-ant-1' }), anthropic);
    assert.equal(remote({ ANTHROPIC_API_KEY: 'sk-ant-1', OPENAI_API_KEY: 'sk-1' })?.[0], 'openai');
    assert.deepEqual(remote({ MODEL_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'sk-ant-1', OPENAI_API_KEY: 'sk-1' }), anthropic);
    const azure = { MODEL_PROVIDER: 'openai-responses', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://x.openai.azure.com/openai/v1' };
    assert.deepEqual(remote({ ...azure, MODEL_KEY_HEADER: 'api-key', MODEL: 'gpt-5' }), [
      ...['openai-responses', 'k', 'https://x.openai.azure.com/openai/v1', 'gpt-5', 'api-key'],
    ]);
    assert.match(refusal({ MODEL_PROVIDER: 'anthropic', OPENAI_API_KEY: 'sk-1' }), /but then ANTHROPIC_API_KEY must be set/);
  });

  test('MODEL-41: models that stand in are listed with the variables of their keys, and what is wrong is told by its field', () => {
    const listed = (entry: object) => ({ OPENAI_API_KEY: 'sk-1', SPARE_KEY: 'sk-2', MODELS: JSON.stringify([entry]) });
    const spare = { provider: 'anthropic', model: 'claude-haiku-4-5', key: 'SPARE_KEY' };
    assert.deepEqual(readConfig(listed(spare)).fallbacks, [
      {
        provider: 'anthropic',
        apiKey: 'sk-2',
        baseUrl: 'https://api.anthropic.com',
        keyHeader: undefined,
        model: 'claude-haiku-4-5',
        silenceMs: 30_000,
        isChecked: true,
        images: true,
      },
    ]);
    assert.equal(readConfig(listed({ ...spare, images: false })).fallbacks[0]?.images, false);
    assert.match(refusal(listed({ ...spare, images: 'no' })), /its field 0\.images is wrong: must be true or false/);
    assert.match(refusal(listed({ ...spare, key: 'NO_KEY' })), /its field 0\.key is wrong: the variable NO_KEY must hold a key/);
    assert.match(
      refusal(listed({ ...spare, provider: 'offline' })),
      /its field 0\.provider is wrong: must be openai, openai-responses, anthropic/,
    );
    assert.match(refusal(listed({ ...spare, address: 'nowhere' })), /its field 0\.address is wrong/);
    assert.match(refusal({ MODELS: JSON.stringify([spare]), SPARE_KEY: 'k' }), /MODEL_PROVIDER must not be offline/);
  });

  test('MODEL_PROVIDER=offline wins over a key, MODEL_PROVIDER=openai without key and address is refused', () => {
    assert.deepEqual(readConfig({ MODEL_PROVIDER: 'offline', OPENAI_API_KEY: 'sk-1' }).model, { provider: 'offline' });
    assert.match(refusal({ MODEL_PROVIDER: 'openai' }), /^MODEL_PROVIDER is "openai", but then OPENAI_API_KEY must be set/);
  });
});

describe('RUN-2, RUN-6: the configuration as a whole', () => {
  test('is frozen and holds no variable that nothing uses', () => {
    const config = readConfig({ NODE_ID: 'node-1', HOME: '/somewhere' });
    assert.ok(Object.isFrozen(config));
    assert.deepEqual(Object.keys(config).sort(), Object.keys(readConfig({})).sort());
  });

  test('RUN-4: the demo is on by itself only where this machine alone reaches the service', () => {
    const https = 'https://help.example.com';
    for (const [env, demo, isExposed] of [
      [{}, true, false],
      [{ HOST: 'localhost' }, true, false],
      [{ HOST: '::1' }, true, false],
      [{ HOST: '::ffff:127.0.0.2' }, true, false],
      [{ HOST: '0.0.0.0' }, false, true],
      [{ HOST: 'api.example.com' }, false, true],
      [{ PUBLIC_URL: https }, false, true],
      [{ PUBLIC_URL: https, DEMO: 'on' }, true, true],
      [{ DEMO: 'off' }, false, false],
    ] as const) {
      const read = readConfig(env);
      assert.deepEqual([read.demo, read.isExposed], [demo, isExposed], JSON.stringify(env));
    }
  });

  test('a bad value stops the program with exit code 1 and exactly that line', async (t) => {
    for (const [env, line] of [
      [{ PORT: 'http' }, 'PORT is "http", but it must be a number from 0 to 65535.'],
      [{ WORKERS: '4' }, 'WORKERS is "4", but then REDIS_URL must be set: processes that share a data directory meet there.'],
    ] as const) {
      assert.deepEqual(await startAndFail(t, { env }), { code: 1, stderr: `${line}\n` });
    }
  });
});
