/** What every endpoint of the runtime interface has in common. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { runtimeRoutes } from '../../../gateway/runtime/routes.ts';
import { type Answer, createClient, createTestApp, DEVICE, HANDSHAKE } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly details?: readonly { readonly path: string }[] };
}

const codeOf = (answer: Answer) => (answer.json as Partial<ErrorAnswer> | undefined)?.error?.code;

/** Every endpoint that asks for a key, with ids of nothing in its path. */
const ENDPOINTS = runtimeRoutes
  .filter((route) => route.caller === 'runtime')
  .map(({ method, path }) => ({ method, path: path.replace(':turn_id', randomUUID()).replace(':id', 'cnv_0') }));

/** A request that says nothing but who is calling. */
const ask = (method: string, path: string, headers: Record<string, string>) =>
  createClient(it.service.baseUrl, '', '').send(method, path, method === 'POST' ? {} : undefined, { 'X-Service-Key': '', ...headers });

for (const { method, path } of ENDPOINTS) {
  const name = `${method} ${path.replace(/[0-9a-f-]{36}/, ':turn_id').replace('cnv_0', ':id')}`;

  test(`KEY-1, KEY-10: ${name} without a key is 400, with an unknown, malformed or foreign one 401, each with Vary`, async () => {
    const missing = await ask(method, path, {});
    assert.deepEqual([missing.status, codeOf(missing)], [400, 'invalid_request']);
    for (const key of [`rd_pk_live_${'a'.repeat(24)}`, 'rd_pk_live_', 'sk_test_1', `${it.app.liveKey}x`]) {
      const answer = await ask(method, path, { 'X-Service-Key': key });
      assert.deepEqual([answer.status, codeOf(answer)], [401, 'invalid_key'], key);
      assert.match(String(answer.headers.vary), /X-Service-Key/);
    }
  });

  test(`VERSION-4: ${name} takes the earlier header spellings and key prefix`, async () => {
    const present = { 'X-Service-Key': it.app.testKey, 'X-Service-Device': DEVICE };
    const earlier = { 'X-RD-Key': it.app.testKey.replace('rd_pk_', 'rdui_pk_'), 'X-RD-Device': DEVICE };
    const answers = [await ask(method, path, present), await ask(method, path, earlier)];
    assert.notEqual(answers[0]?.status, 401);
    assert.deepEqual([answers[1]?.status, codeOf(answers[1] as Answer)], [answers[0]?.status, codeOf(answers[0] as Answer)]);
    const malformed = await ask(method, path, { ...earlier, 'X-RD-Device': 'not-hex' });
    assert.deepEqual([malformed.status, codeOf(malformed)], [400, 'invalid_request']);
  });

  test(`HTTP-21: ${name} answers a preflight without a key, and its refusals can be read by any page`, async () => {
    const preflight = await ask('OPTIONS', path, { Origin: 'https://shop.example', 'Access-Control-Request-Method': method });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-origin'], 'https://shop.example');
    assert.ok(String(preflight.headers['access-control-allow-methods']).includes(method));
    for (const header of ['X-Service-Key', 'X-Service-Device', 'X-Service-User-Token', 'X-RD-Key', 'If-None-Match'])
      assert.ok(String(preflight.headers['access-control-allow-headers']).includes(header), header);
    const answer = await ask(method, path, { 'X-Service-Key': it.app.liveKey, Origin: 'https://shop.example' });
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'origin_not_allowed']);
    assert.equal(answer.headers['access-control-allow-origin'], 'https://shop.example');
    assert.match(String(answer.headers.vary), /Origin/);
  });

  test(`HTTP-16: ${name} gives the caller’s X-Request-Id back, or mints one, on refusals too`, async () => {
    const given = await ask(method, path, { 'X-Request-Id': 'trace-1' });
    assert.equal(given.headers['x-request-id'], 'trace-1');
    assert.match(String((await ask(method, path, {})).headers['x-request-id']), /^\S{8,}$/);
  });

  test(`KEY-3: ${name} with a live key before the app is live is 403 app_not_live`, async () => {
    const made = await it.operator('POST', `/orgs/${it.app.organisationId}/apps`, { name: 'Not live' });
    const { keys } = made.json as { keys: { live: string } };
    const answer = await ask(method, path, { 'X-Service-Key': keys.live });
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'app_not_live']);
  });
}

/** Calls of a device, each about nothing that there is, and how they are answered. */
const OF_DEVICES = [
  ['POST', '/v1/feedback', { message_id: 'msg_0', rating: 1 }, 404],
  ['POST', '/v1/ratings', { message_id: 'msg_0', block_id: 'blk_0', value: 1 }, 404],
  ['POST', '/v1/invocations/inv_0/confirm', { decision: 'confirm' }, 404],
  ['POST', '/v1/invocations/inv_0/edit', { revision: 1, params: {} }, 404],
  ['POST', '/v1/identify', { external_user_id: 'often' }, 200],
  ['POST', `/v1/chat/${randomUUID()}/stop`, undefined, 404],
  ['GET', `/v1/chat/${randomUUID()}`, undefined, 404],
] as const;

test('KEY-8, CONFIRM-12, PERSON-8: calls of a device are 400 without X-Service-Device, and name it', async () => {
  for (const [method, path, body] of OF_DEVICES) {
    const answer = await createClient(it.service.baseUrl, it.app.liveKey, '').send(method, path, body);
    const { error } = answer.json as ErrorAnswer;
    assert.deepEqual([answer.status, error.code, error.details?.[0]?.path], [400, 'invalid_request', 'X-Service-Device'], path);
    assert.match(error.message, /^X-Service-Device is required/);
  }
});

test('LIMIT-1: each of these calls has a pool of its own by device, as large as messages_per_minute', async () => {
  const { liveKey } = await createTestApp(it.service.baseUrl, it.service.operatorToken, { messages_per_minute: 2 });
  const client = createClient(it.service.baseUrl, liveKey);
  const other = createClient(it.service.baseUrl, liveKey, 'b'.repeat(32));
  for (const [method, path, body, status] of OF_DEVICES) {
    const answers = [await client.send(method, path, body), await client.send(method, path, body)];
    assert.deepEqual([answers[0]?.status, answers[1]?.status], [status, status], path);
    const third = await client.send(method, path, body);
    assert.deepEqual([third.status, codeOf(third)], [429, 'rate_limited'], path);
    assert.ok(Number(third.headers['retry-after']) > 0, path);
    assert.equal((await other.send(method, path, body)).status, status, 'another device has its own');
  }
  it.script([{ text: 'Yes.' }]);
  assert.equal((await client.say('Chat has its own')).events.at(-1)?.status, 'completed');
});

test('VERSION-1, VERSION-2: a protocol other than 1 is 400 naming it; components and fields that nobody knows are no error', async () => {
  const refused = await it.client.say('Hi', { client: { ...HANDSHAKE, protocol: 2 } });
  assert.equal(refused.status, 400);
  assert.match((refused.json as ErrorAnswer).error.message, /^client\.protocol /);
  it.script([{ text: 'Hi.' }]);
  const client = { ...HANDSHAKE, catalog_version: '2031-01.z', components: ['text', 'choice@2', 'hologram', 'hologram@3'], era: 'later' };
  assert.equal((await it.say('Hi', { client })).events.at(-1)?.status, 'completed');
  const tools = (it.lastRequest().tools ?? []).map((tool) => tool.function.name);
  assert.deepEqual(tools, ['choice'], 'what both know is offered, in a version that the client has');
});

test('MANIFEST-5: a manifest without actions or screens is registered, and config takes the SDK and platform headers', async () => {
  const posted = await it.client.send('POST', '/v1/apps/manifest', { manifest: { version: '1', actions: [] }, sdk: 'web/0.22.0' });
  assert.equal(posted.status, 200);
  for (const headers of [
    { 'X-Service-SDK': 'web/0.22.0', 'X-Service-Platform': 'web' },
    { 'X-RD-SDK': 'flutter/0.45.0', 'X-RD-Platform': 'ios' },
  ])
    assert.equal((await it.client.send('GET', '/v1/apps/config', undefined, headers)).status, 200);
});

test('BLOCK-9: an action of a kind that the build does not run is asked for again, and never sent', async () => {
  const args = (kind: string, target: string) => ({ buttons: [{ kind, label: 'Go', target }] });
  const client = { ...HANDSHAKE, components: ['text', 'actions'], action_kinds: ['copy'] };
  it.script([{ call: 'actions', args: args('open_url', 'https://example.com/') }], [{ call: 'actions', args: args('copy', 'ABC') }]);
  const { events } = await it.say('Where do I go?', { client });
  const sent = events.flatMap(({ block }) => (block === undefined ? [] : [JSON.stringify(block)]));
  assert.equal(sent.length, 1);
  assert.match(sent[0] ?? '', /"copy"/);
  assert.ok(!sent.join().includes('open_url'));
});
