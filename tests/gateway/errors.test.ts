/** Every code of the error table, as a client of the running program meets it: a code without a request that provokes it does not compile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as begin, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FormData, request } from 'undici';
import { ERROR_TABLE, type ErrorCode } from '../../protocol/errors.ts';
import { openWriter } from '../../storage/sqlite/database.ts';
import { type Answer, createClient, createOperator, createTestApp, HANDSHAKE, parseEvents, type TestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, type Agent, agentOf, fetchFile, openSession, PNG } from '../support/setup-agent.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';
import { boundFiles, takeAway, withoutUploadFolder, withoutUploads } from './error-faults.ts';
import { upload } from './runtime/uploading.ts';

const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff' };
const FULL_BYTES = 4_096;

interface World {
  readonly service: RunningService;
  readonly operator: ReturnType<typeof createOperator>;
  /** What an upload that began with the test, and hardly goes on, is told. */
  readonly trickled: Promise<Answer>;
  app(settings?: Readonly<Record<string, unknown>>): Promise<TestApp>;
  /** An agent of a session of its own, on an app that is not live. */
  agent(): Promise<Agent & { readonly appId: string; readonly sessionId: string }>;
  send(method: string, path: string, headers?: Record<string, string>, body?: string | Buffer): Promise<Answer>;
}

type Provoke = (world: World) => Promise<Answer>;

const say = async (world: World, settings: Readonly<Record<string, unknown>>, text = 'Hello', more: Record<string, unknown> = {}) =>
  createClient(world.service.baseUrl, (await world.app(settings)).liveKey).say(text, more);
const unstarted = async ({ operator, service }: World) => {
  const { org, app } = await notLive(operator);
  const { session, code } = await openSession(operator, app.id);
  return { org, appId: app.id, sessionId: session.id, code, agent: await agentOf(service.baseUrl, code) };
};
const asAgent =
  (method: string, path: string, body?: unknown): Provoke =>
  async (world) =>
    (await world.agent()).send(method, path, body);
const asOperator =
  (method: string, path: string, body?: unknown): Provoke =>
  ({ operator }) =>
    operator(method, path, body);
const uploaded = async (world: World, content: Uint8Array | string, work = (send: () => Promise<Answer>, _app: TestApp) => send()) => {
  const app = await world.app();
  const { baseUrl } = world.service;
  return work(async () => ({ ...(await upload({ baseUrl, key: app.testKey }, content)), text: '' }), app);
};

async function notLive(operator: World['operator']) {
  const { org } = (await operator('POST', '/orgs', { name: 'Tea', plan: 'growth' })).json as { org: { id: string } };
  const made = await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea', auto_go_live: false });
  return { org, ...(made.json as { app: { id: string }; keys: { live: string; test: string } }) };
}

/** The answer to an upload of a byte a second: it comes after some ten. */
async function trickledUpload({ service, app }: Pick<World, 'service' | 'app'>): Promise<Answer> {
  const headers = {
    'X-Service-Key': (await app()).liveKey,
    'X-Service-Device': 'e'.repeat(32),
    'Content-Type': 'multipart/form-data; boundary=b',
  };
  const call = begin(`${service.baseUrl}/v1/uploads`, { method: 'POST', headers: { ...headers, 'Content-Length': 1_000 } });
  call.write('--b\r\n');
  const drip = setInterval(() => call.write('x'), 1_000);
  try {
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const text = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode ?? 0, headers: {}, text, json: JSON.parse(text) };
  } finally {
    clearInterval(drip);
    call.destroy();
  }
}

async function logoAnswer({ operator, service }: World, app: TestApp, then: () => void): Promise<Answer> {
  const { appId, liveKey } = app;
  assert.equal((await operator('PUT', `/apps/${appId}/appearance`, { theme: THEME })).status, 200);
  const form = new FormData();
  form.append('file', new Blob([PNG], { type: 'image/png' }), 'logo.png');
  const headers = { Authorization: `Bearer ${service.operatorToken}` };
  const sent = await request(`${service.baseUrl}/console/api/apps/${appId}/logo`, { method: 'POST', headers, body: form });
  assert.equal(sent.statusCode, 200, await sent.body.text());
  assert.equal((await operator('POST', `/apps/${appId}/publish`)).status, 200);
  then();
  return createClient(service.baseUrl, liveKey).send('GET', '/v1/apps/logo');
}

const PROVOKE: Readonly<Record<ErrorCode, Provoke>> = {
  invalid_key: ({ service }) => createClient(service.baseUrl, 'rd_pk_live_nosuchkeyatall').send('GET', '/v1/apps/config'),
  quota_exceeded: (world) => say(world, { suspended: true }),
  rate_limited: async (world) => {
    const { liveKey } = await world.app({ messages_per_minute: 1 });
    const client = createClient(world.service.baseUrl, liveKey);
    await client.say('Hello');
    return client.say('Hello');
  },
  model_busy: (world) => say(world, {}, 'be busy'),
  manifest_unknown: (world) => say(world, {}, 'Hello', { client: { ...HANDSHAKE, manifest_hash: 'f'.repeat(64) } }),
  upgrade_required: (world) => say(world, { min_sdk: { web: '99.0.0' } }),
  invalid_request: async (world) => createClient(world.service.baseUrl, (await world.app()).liveKey).send('POST', '/v1/chat', {}),
  internal: (world) => say(world, {}, 'break off'),
  app_not_live: async ({ operator, service }) =>
    createClient(service.baseUrl, (await notLive(operator)).keys.live).send('GET', '/v1/apps/config'),
  app_suspended: async (world) =>
    createClient(world.service.baseUrl, (await world.app({ suspended: true })).liveKey).send('GET', '/v1/apps/logo'),
  origin_not_allowed: async (world) => {
    const { liveKey } = await world.app({ allowed_domains: ['shop.example'] });
    return createClient(world.service.baseUrl, liveKey).send('GET', '/v1/apps/config', undefined, { Origin: 'https://evil.example' });
  },
  unsupported_media_type: (world) => uploaded(world, Buffer.from([0, 1, 2, 3, 0, 255])),
  payload_too_large: async (world) =>
    createClient(world.service.baseUrl, (await world.app()).liveKey).send('POST', '/v1/feedback', `{"a":"${'x'.repeat(600_000)}"}`),
  upload_failed: (world) =>
    uploaded(world, 'words', (send, { organisationId }) => withoutUploadFolder(world.service, organisationId, send)),
  uploads_unavailable: (world) => uploaded(world, 'words', (send) => withoutUploads(world.service, send)),
  upload_too_slow: ({ trickled }) => trickled,
  no_logo: async (world) => createClient(world.service.baseUrl, (await world.app()).liveKey).send('GET', '/v1/apps/logo'),
  logo_unavailable: async (world) => {
    const app = await world.app();
    return logoAnswer(world, app, () => {
      const writer = openWriter(join(world.service.dataDir, 'organisations', `${app.organisationId}.sqlite`));
      writer.exec('DELETE FROM assets');
      writer.close();
    });
  },
  pairing_test_only: async (world) =>
    createClient(world.service.baseUrl, (await world.app()).liveKey).send('POST', '/v1/pairings/claim', { code: 'AAAAAAAA' }),
  pairing_not_found: async (world) =>
    createClient(world.service.baseUrl, (await world.app()).testKey).send('POST', '/v1/pairings/claim', { code: 'AAAAAAAA' }),
  unknown_code: ({ service }) => fetchFile(service.baseUrl, '0'.repeat(32)),
  code_used: async (world) => fetchFile(world.service.baseUrl, (await unstarted(world)).code),
  code_expired: async ({ operator, service }) => {
    const { session, code } = await openSession(operator, (await notLive(operator)).app.id);
    await operator('POST', `/sessions/${session.id}/code`);
    return fetchFile(service.baseUrl, code);
  },
  app_not_found: async (world) => {
    const agent = await world.agent();
    await world.operator('DELETE', `/apps/${agent.appId}`);
    return agent.send('GET', '/status');
  },
  not_started: async (world) => (await unstarted(world)).agent.send('GET', '/status'),
  already_claimed: async (world) => (await world.agent()).send('POST', '/start', { ...AGENT, os: 'darwin' }),
  app_live: async (world) => world.operator('POST', `/apps/${(await world.app()).appId}/sessions`, { kind: 'setup' }),
  draft_invalid: async (world) => (await world.agent()).logo(PNG, 'image/png'),
  session_closed: async (world) => {
    const agent = await world.agent();
    await agent.send('POST', '/fail', { reason: 'No compiler.' });
    return agent.send('GET', '/status');
  },
  empty_file: async (world) => (await world.agent()).logo(new Uint8Array(), 'image/png'),
  unsupported_type: async (world) => {
    const agent = await world.agent();
    await agent.send('PUT', '/appearance', { theme: THEME });
    return agent.logo(Buffer.from('no picture'), 'image/png');
  },
  invalid_json: async (world) => {
    const headers = { Authorization: `Bearer ${(await world.agent()).token}`, 'Content-Type': 'application/json' };
    return world.send('POST', '/setup/events', headers, '{');
  },
  invalid_body: asAgent('POST', '/events', {}),
  missing_token: ({ send }) => send('GET', '/setup/status'),
  invalid_token: ({ send }) => send('GET', '/setup/status', { Authorization: `Bearer rd_st_${'0'.repeat(24)}` }),
  invalid_csrf: async ({ send, service }) => {
    const body = JSON.stringify({ token: service.operatorToken });
    const { headers } = await send('POST', '/console/api/login', { 'Content-Type': 'application/json' }, body);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    return send('POST', '/console/api/orgs', { Cookie: cookie, 'Content-Type': 'application/json' }, '{"name":"Tea"}');
  },
  not_found: asOperator('GET', '/apps/app_nosuch'),
  conflict: async (world) => world.operator('POST', `/orgs/${(await world.app()).organisationId}/move`, { cell: 'cell-2' }),
  too_large: asAgent('POST', '/events', { step: 'install', status: 'started', detail: 'x'.repeat(3_000_000) }),
  invalid_appearance: asAgent('PUT', '/appearance', { theme: { ...THEME, accent: 'green-ish' } }),
  invalid_experience: asAgent('PUT', '/experience', { suggestions: ['x'.repeat(10_000)] }),
  method_not_allowed: ({ send }) => send('DELETE', '/healthz'),
  organisation_unavailable: async (world) => {
    const { dataDir } = world.service;
    const app = await world.app();
    takeAway(dataDir, app.organisationId);
    const ask = () => world.operator('GET', `/orgs/${app.organisationId}/apps`);
    // The program looks once a second whether its files are there.
    await eventually(async () => (await ask()).status !== 200);
    return ask();
  },
  storage_unavailable: async (world) => {
    boundFiles(world.service, FULL_BYTES);
    const answer = await world.operator('POST', '/orgs', { name: 'Tea', plan: 'free' });
    boundFiles(world.service, undefined);
    return answer;
  },
};

async function openWorld(t: TestContext): Promise<World> {
  const upstream = await startUpstream(t, ({ messages }) => {
    const asked = String(messages.at(-1)?.content);
    if (asked.includes('be busy')) return [{ status: 503 }];
    return asked.includes('break off') ? [{ text: 'Well' }, { reset: true }] : [{ text: 'Hello.' }];
  });
  const service = await startService(t, { env: { DEMO: 'off', ...upstreamEnv(upstream), LOG_LEVEL: 'fatal' } });
  const { baseUrl, operatorToken } = service;
  const operator = createOperator(baseUrl, operatorToken);
  const app: World['app'] = (settings) => createTestApp(baseUrl, operatorToken, settings);
  const world: World = {
    service,
    operator,
    app,
    trickled: trickledUpload({ service, app }),
    async agent() {
      const { agent, appId, sessionId } = await unstarted(world);
      assert.equal((await agent.send('POST', '/start', AGENT)).status, 200);
      return { ...agent, appId, sessionId };
    },
    async send(method, path, headers = {}, body) {
      const answer = await request(`${baseUrl}${path}`, { method: method as 'GET', headers, body: body ?? null });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
    },
  };
  return world;
}

/** The error that a stream ends with. */
function refusalIn(answer: Answer): { code?: string; message?: string; retryable?: boolean } {
  if (String(answer.headers['content-type']).startsWith('text/event-stream'))
    return (parseEvents(answer.text).find(({ type }) => type === 'error') ?? {}) as ReturnType<typeof refusalIn>;
  return (answer.json as { error?: { code: string; message: string } }).error ?? {};
}

test('HTTP-12, HTTP-18, HTTP-19, HTTP-20: every error code of the table is met over HTTP or in a stream, with its status and a sentence', async (t) => {
  const world = await openWorld(t);
  for (const [code, provoke] of Object.entries(PROVOKE) as [ErrorCode, Provoke][]) {
    await t.test(code, async () => {
      const answer = await provoke(world);
      const refusal = refusalIn(answer);
      assert.equal(refusal.code, code, `${answer.status} ${answer.text} ${JSON.stringify(answer.json)}`);
      assert.match(String(refusal.message), /^\S+ \S+/);
      const { status, retryable } = ERROR_TABLE[code];
      if (answer.status === 200) assert.equal(refusal.retryable, retryable);
      else assert.equal(answer.status, status);
    });
  }
});
