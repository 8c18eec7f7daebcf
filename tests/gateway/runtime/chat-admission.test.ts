/** Who may open a turn, and what the others are told. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  createClient,
  createOperator,
  createTestApp,
  HANDSHAKE,
  outline,
  type StreamAnswer,
  spoken,
  type TestApp,
} from '../../support/client.ts';
import { freePort } from '../../support/free-port.ts';
import { startService } from '../../support/service.ts';
import { type Play, startUpstream, type UpstreamRequest, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string };
}

const MANIFEST = { version: '1', actions: [{ name: 'find_order', description: 'Finds an order.', params: { id: { type: 'string' } } }] };
const DONE = ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end'];

/** Calls the action when asked to look; is busy the first time when asked to; else answers. */
function script(request: UpstreamRequest): readonly Play[] {
  const last = request.messages.at(-1);
  if (last?.role === 'user' && last.content === 'look') return [{ call: 'find_order', args: { id: '7' } }];
  const asked = upstream.requests.filter((each) => each.messages.at(-1)?.content === 'busy once').length;
  if (last?.content === 'busy once' && asked === 1) return [{ status: 503 }];
  return [{ text: 'Fine.' }];
}

const upstream = await startUpstream(FILE, script);
const service = await startService(FILE, { env: { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'silent' } });
const operator = createOperator(service.baseUrl, service.operatorToken);

const makeApp = (settings: Record<string, unknown> = {}): Promise<TestApp> =>
  createTestApp(service.baseUrl, service.operatorToken, settings);

async function patch(app: TestApp, settings: Record<string, unknown>): Promise<void> {
  const answer = await operator('PATCH', `/apps/${app.appId}`, settings);
  assert.equal(answer.status, 200, answer.text);
}

function assertAnswered({ status, events, text }: StreamAnswer): void {
  assert.equal(status, 200, text);
  assert.deepEqual(outline(events), DONE, text);
  assert.equal(spoken(events), 'Fine.');
}

/** `error` then `turn.end`, and no turn.start. */
function assertRefusedInStream({ status, events, text }: StreamAnswer, code: string, names: RegExp): void {
  assert.equal(status, 200, text);
  assert.deepEqual(outline(events), ['error', 'turn.end'], text);
  assert.deepEqual([events[0]?.code, events[1]?.status], [code, 'error']);
  assert.match(String(events[0]?.message), names);
}

function assertRefused({ status, json, text }: StreamAnswer, expected: number, code: string, names: RegExp): void {
  assert.equal(status, expected, text);
  assert.equal((json as ErrorAnswer).error.code, code);
  assert.match((json as ErrorAnswer).error.message, names);
}

test('KEY-3: a live key before the app is live is 403 app_not_live; its test key answers', async () => {
  const { organisationId } = await makeApp();
  const made = await operator('POST', `/orgs/${organisationId}/apps`, { name: 'Not live' });
  const { app, keys } = made.json as { app: { id: string }; keys: { live: string; test: string } };
  assertRefused(await createClient(service.baseUrl, keys.live).say('Hello'), 403, 'app_not_live', /not live/);
  assertAnswered(await createClient(service.baseUrl, keys.test).say('Hello'));
  await operator('POST', `/apps/${app.id}/go-live`);
  assertAnswered(await createClient(service.baseUrl, keys.live).say('Hello'));
});

test('KEY-4, STREAM-12: a suspended app reports quota_exceeded in the stream, where a notice could be shown too, and app_suspended on config', async () => {
  const app = await makeApp({ suspended: true });
  for (const key of [app.liveKey, app.testKey]) {
    const client = createClient(service.baseUrl, key);
    assertRefusedInStream(await client.say('Hello'), 'quota_exceeded', /suspended/);
    const withNotices = await client.say('Hello', { client: { ...HANDSHAKE, capabilities: ['notices'] } });
    assertRefusedInStream(withNotices, 'quota_exceeded', /suspended/);
    const config = await client.send('GET', '/v1/apps/config');
    assert.deepEqual([config.status, (config.json as ErrorAnswer).error.code], [403, 'app_suspended']);
  }
  await patch(app, { suspended: false });
  assertAnswered(await createClient(service.baseUrl, app.liveKey).say('Hello'));
});

test('HTTP-22, HTTP-23: a browser of an allowed domain may read its stream, any other is 403 origin_not_allowed', async () => {
  const app = await makeApp({ allowed_domains: ['shop.example', '*.acme.example'] });
  const live = createClient(service.baseUrl, app.liveKey);
  const from = (origin: string, client = live) => client.chat({ message: { text: 'Hello' } }, { Origin: origin });
  for (const origin of ['https://shop.example', 'https://www.acme.example', 'https://a.b.acme.example']) {
    const answer = await from(origin);
    assertAnswered(answer);
    assert.equal(answer.headers['access-control-allow-origin'], origin);
    assert.match(String(answer.headers['access-control-expose-headers']), /X-Request-Id/);
    assert.match(String(answer.headers.vary), /Origin/);
  }
  const others = ['https://acme.example', 'https://evil-shop.example', 'https://shop.example.evil.test', 'http://localhost:3000', 'null'];
  for (const origin of others) assertRefused(await from(origin), 403, 'origin_not_allowed', /Allowed domains/);
  assertAnswered(await from('http://localhost:3000', createClient(service.baseUrl, app.testKey)));
  assertRefused(await from('https://evil.test', createClient(service.baseUrl, app.testKey)), 403, 'origin_not_allowed', /evil\.test/);
});

test('MOBILE-3: pages of the service’s own address need no setting; where PUBLIC_URL says it, another name for it is not its own', async (t) => {
  const port = String(await freePort());
  const [own, other] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  const { operatorToken: token } = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off', PORT: port, PUBLIC_URL: own } });
  for (const { baseUrl, operatorToken, page, foreign } of [
    { ...service, page: service.baseUrl, foreign: null },
    { baseUrl: other, operatorToken: token, page: own, foreign: other },
  ]) {
    const { liveKey } = await createTestApp(baseUrl, operatorToken, { allowed_domains: ['shop.example'] });
    const from = (origin: string) => createClient(baseUrl, liveKey).chat({ message: { text: 'Hello' } }, { Origin: origin });
    assertAnswered(await from(page));
    // The host that was asked is a name that anybody may give the address.
    if (foreign !== null) assertRefused(await from(foreign), 403, 'origin_not_allowed', /Allowed domains/);
  }
});

async function signer(app: TestApp): Promise<(id: string) => string> {
  const { identity_secret: secret } = (await operator('GET', `/apps/${app.appId}/identity-secret`)).json as { identity_secret: string };
  return (id) => createHmac('sha256', secret).update(id).digest('hex');
}

test('PERSON-5: an app that requires identity answers only a rightly signed user, else 403 invalid_request', async () => {
  const app = await makeApp({ require_identity: true });
  const sign = await signer(app);
  const client = createClient(service.baseUrl, app.liveKey);
  const hmac = sign('ada');
  const unsigned: readonly Record<string, unknown>[] = [
    {},
    { user: null },
    { user: { id: 'ada' } },
    { user: { id: 'ada', hmac: null } },
    { user: { id: 'ada', hmac: '' } },
    { user: { id: 'ada', hmac: hmac.toUpperCase() } },
    { user: { id: 'ada', hmac: hmac.slice(0, -1) } },
    { user: { id: 'ada', hmac: sign('eve') } },
    { user: { id: 'ada', hmac: createHmac('sha256', 'guess').update('ada').digest('hex') } },
  ];
  for (const more of unsigned) assertRefused(await client.say('Hello', more), 403, 'invalid_request', /hmac/);
  assertAnswered(await client.say('Hello', { user: { id: 'ada', hmac } }));
  const bound = await client.send('POST', '/v1/identify', { external_user_id: 'ada', user_hmac: hmac });
  assert.equal(bound.status, 200, bound.text);
  for (const more of unsigned) assertRefused(await client.say('Hello', more), 403, 'invalid_request', /hmac/);
});

test('LIMIT-1: 429 rate_limited with Retry-After before the stream, per device, before the body is read', async () => {
  const app = await makeApp({ messages_per_minute: 3 });
  const client = createClient(service.baseUrl, app.liveKey);
  for (let n = 0; n < 3; n++) assertAnswered(await client.say('Hello'));
  const refused = await client.say('Hello');
  assertRefused(refused, 429, 'rate_limited', /Try again in \d+ s/);
  const retryAfterS = Number(refused.headers['retry-after']);
  assert.ok(retryAfterS >= 1 && retryAfterS <= 20, String(retryAfterS));
  assert.equal((await client.chat({ message: 7 })).status, 429);
  assertAnswered(await createClient(service.baseUrl, app.liveKey, 'e'.repeat(32)).say('Hello'));
  const nameless = createClient(service.baseUrl, app.liveKey, '');
  for (let n = 0; n < 3; n++) assertAnswered(await nameless.say('Hello'));
  assert.equal((await nameless.say('Hello')).status, 429);
  await patch(app, { messages_per_minute: 100 });
  assertAnswered(await client.say('Hello'));
});

test('LIMIT-11, LIMIT-12: rate_limited in the stream; a retry of a counted turn and a continuation are exempt', async () => {
  const app = await makeApp({ messages_per_day: 3 });
  const client = createClient(service.baseUrl, app.liveKey);
  const withActions = { client: { ...HANDSHAKE, manifest_hash: await client.register(MANIFEST) } };
  const busy = randomUUID();
  const failed = await client.say('busy once', { turn_id: busy });
  assert.deepEqual([failed.events[1]?.code, failed.events[1]?.retryable], ['model_busy', true]);
  const asked = await client.say('look', withActions);
  const [pending] = (asked.events.at(-1)?.pending ?? []) as { invocation_id: string }[];
  const counted = randomUUID();
  const answered = await client.say('Hello', { turn_id: counted });
  assertAnswered(answered);
  assertRefusedInStream(await client.say('Hello'), 'rate_limited', /last message for today/);
  assert.deepEqual((await client.say('Hello', { turn_id: counted })).events, answered.events);
  assertAnswered(await client.say('busy once', { turn_id: busy }));
  const continuation = await client.chat({
    ...withActions,
    conversation_id: asked.events[0]?.conversation_id,
    tool_results: [{ invocation_id: pending?.invocation_id, status: 'ok', result: { state: 'shipped' } }],
  });
  assertAnswered(continuation);
  assertRefusedInStream(await client.say('Hello'), 'rate_limited', /last message for today/);
  assertAnswered(await createClient(service.baseUrl, app.testKey).say('Hello'));
  // One more a day is one more, however much went on beside the three.
  await patch(app, { messages_per_day: 4 });
  assertAnswered(await client.say('Hello'));
  assertRefusedInStream(await client.say('Hello'), 'rate_limited', /last message for today/);
});

test('LIMIT-13: the 201st on a test key is quota_exceeded for all apps of the organisation, live goes on', async () => {
  const app = await makeApp();
  const client = createClient(service.baseUrl, app.testKey);
  const made = await operator('POST', `/orgs/${app.organisationId}/apps`, { name: 'Second', messages_per_day: 1_000_000 });
  const second = createClient(service.baseUrl, (made.json as { keys: { test: string } }).keys.test);
  let last: StreamAnswer | undefined;
  for (let batch = 0; batch < 8; batch++) {
    const answers = await Promise.all(Array.from({ length: 25 }, () => client.say('Hello')));
    for (const answer of answers) assert.equal(answer.events.at(-1)?.status, 'completed', answer.text);
    last = answers[0];
  }
  for (const each of [client, second]) {
    assertRefusedInStream(await each.say('Hello'), 'quota_exceeded', /sandbox conversations.*[Tt]est keys/);
    // Worded for a developer, so it is no notice either.
    const withNotices = await each.say('Hello', { client: { ...HANDSHAKE, capabilities: ['notices'] } });
    assertRefusedInStream(withNotices, 'quota_exceeded', /sandbox conversations/);
  }
  assertAnswered(await client.say('Hello', { conversation_id: last?.events[0]?.conversation_id }));
  assertAnswered(await createClient(service.baseUrl, app.liveKey).say('Hello'));
  const usage = await operator('GET', `/orgs/${app.organisationId}/usage`);
  assert.match(usage.text, /"sandbox_conversations":\{?[^}]*\b200\b/);
});

test('VERSION-3: a build below its platform’s floor is upgrade_required in the stream', async () => {
  const app = await makeApp({ min_sdk: { web: '0.50.1' } });
  const client = createClient(service.baseUrl, app.liveKey);
  const by = (sdk: string) => client.say('Hello', { client: { ...HANDSHAKE, sdk } });
  for (const sdk of ['web/0.50.0', 'web/0.9.9', 'web/0.50.1-beta.1']) {
    assertRefusedInStream(await by(sdk), 'upgrade_required', /web\/0\.50\.1/);
  }
  for (const sdk of ['web/0.50.1', 'web/1.0.0', 'flutter/0.1.0']) assertAnswered(await by(sdk));
});

test('VERSION-3: what a build brings of calls that it was given before the floor was raised is taken, and its next question is refused', async () => {
  const app = await makeApp();
  const client = createClient(service.baseUrl, app.liveKey);
  const handshake = { ...HANDSHAKE, sdk: 'web/0.50.0', manifest_hash: await client.register(MANIFEST) };
  const asked = await client.say('look', { client: handshake });
  const [pending] = (asked.events.at(-1)?.pending ?? []) as { invocation_id: string }[];
  await patch(app, { min_sdk: { web: '0.50.1' } });
  const more = { client: handshake, conversation_id: asked.events[0]?.conversation_id };
  assertAnswered(await client.chat({ ...more, tool_results: [{ invocation_id: pending?.invocation_id, status: 'ok', result: {} }] }));
  assertRefusedInStream(await client.say('Hello', more), 'upgrade_required', /web\/0\.50\.1/);
});

test('MANIFEST-8: a manifest hash this app never registered is manifest_unknown, also when another app did', async () => {
  const [owner, other] = [await makeApp(), await makeApp()];
  const manifest_hash = await createClient(service.baseUrl, owner.liveKey).register(MANIFEST);
  const say = (app: TestApp) => createClient(service.baseUrl, app.liveKey).say('Hello', { client: { ...HANDSHAKE, manifest_hash } });
  assertAnswered(await say(owner));
  assertRefusedInStream(await say(other), 'manifest_unknown', /manifest/);
});

test('VERSION-4: earlier header spellings and the earlier key prefix open the same turns', async () => {
  const app = await makeApp();
  const present = createClient(service.baseUrl, app.liveKey);
  const first = await present.say('Hello');
  const earlier = createClient(service.baseUrl, '', '');
  const headers = { 'X-RD-Key': app.liveKey.replace('rd_pk_', 'rdui_pk_'), 'X-RD-Device': present.headers['X-Service-Device'] as string };
  const body = { message: { text: 'Hello' }, conversation_id: first.events[0]?.conversation_id };
  const answer = await earlier.chat(body, headers);
  assertAnswered(answer);
  assert.equal(answer.events[0]?.conversation_id, first.events[0]?.conversation_id);
});
