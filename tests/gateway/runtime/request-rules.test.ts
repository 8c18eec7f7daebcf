/** What requests of SDKs may look like: caps of a manifest, hashes that are none, typos, handshakes without `text`, and what is checked first. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { createClient, HANDSHAKE, outline } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

const LOCALES = Array.from({ length: 16 }, (_, n) => `l${n}`);
const byLocale = <T>(value: T) => Object.fromEntries(LOCALES.map((locale) => [locale, value]));
const numbered = (count: number) => Array.from({ length: count }, (_, n) => n);
const chars = (n: number, start = '') => start.padEnd(n, 'x');

/** As many of everything as the caps allow; descriptions of parameters and values to choose from are short. */
function largestManifest() {
  const param = (at: number) => ({
    type: 'string',
    description: chars(170),
    required: true,
    enum: numbered(50).map(String),
    editable: at % 2 === 0,
  });
  const params = (count: number) => Object.fromEntries(numbered(count).map((at) => [`param_${at}`, param(at)]));
  const actions = numbered(100).map((at) => ({
    name: chars(64, `action_${at}_`),
    description: chars(500),
    risk: 'write',
    params: params(20),
    confirm_template: byLocale(chars(300)),
    confirm_labels: byLocale({ confirm: chars(24), cancel: chars(24) }),
    type_to_confirm: chars(60),
    timeoutMs: 120_000,
  }));
  const routes = numbered(50).map((at) => ({
    name: chars(64, `route_${at}_`),
    title: chars(60),
    description: chars(300),
    params: params(8),
  }));
  return { version: chars(64), actions, routes };
}

test('HTTP-4, MANIFEST-2: a manifest within the caps of its fields fits, up to 2 MB', async () => {
  const manifest = largestManifest();
  const posted = await it.client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/0.50.0' });
  assert.ok(Buffer.byteLength(JSON.stringify(manifest)) > 1_900_000);
  assert.equal(posted.status, 200, posted.text.slice(0, 300));
  const tooLarge = await it.client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/0.50.0', padding: chars(300_000) });
  assert.deepEqual([tooLarge.status, (tooLarge.json as { error: { code: string } }).error.code], [413, 'payload_too_large']);
});

test('MANIFEST-8: a manifest_hash that is no hash is manifest_unknown, as one that nobody registered', async () => {
  for (const manifest_hash of ['abc', '', 'F'.repeat(64), 'f'.repeat(64), 'x'.repeat(5_000)]) {
    const { status, events } = await it.client.say('Hello', { client: { ...HANDSHAKE, manifest_hash } });
    assert.deepEqual([status, outline(events), events[0]?.code], [200, ['error', 'turn.end'], 'manifest_unknown'], manifest_hash);
  }
  assert.equal((await it.client.say('Hello', { client: { ...HANDSHAKE, manifest_hash: 7 } })).status, 400);
});

test('CHAT-4: Client handshake: components without text, and none at all, mean text all the same', async () => {
  for (const components of [[], ['key_points'], ['text']]) {
    it.script([{ text: 'Two days.' }]);
    const { events, text } = await it.say('How long?', { client: { ...HANDSHAKE, components } });
    assert.deepEqual(outline(events), ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end'], text);
  }
});

test('HTTP-3: a field that nobody knows is ignored, and on a test key X-Service-Warning says which was meant', async () => {
  const body = { convesation_id: 'cnv_1', client: { ...HANDSHAKE, locael: 'de', later_field: 1 }, 'wei\u00dfe\r\nrd': 1 };
  const warning = async (key: string) => {
    it.script([{ text: 'Yes.' }]);
    const { headers, events } = await createClient(it.service.baseUrl, key).chat({ message: { text: 'Hello' }, ...body });
    assert.equal(events.at(-1)?.status, 'completed');
    return headers['x-service-warning'];
  };
  assert.equal(await warning(it.app.liveKey), undefined);
  assert.deepEqual(String(await warning(it.app.testKey)).split('; '), [
    'unknown field client.locael, did you mean client.locale?',
    'unknown field client.later_field',
    'unknown field convesation_id, did you mean conversation_id?',
    'unknown field wei?e??rd',
  ]);
  const refused = await createClient(it.service.baseUrl, it.app.testKey).send('POST', '/v1/feedback', { messageid: 'msg_1', rating: 1 });
  assert.deepEqual(
    [refused.status, refused.headers['x-service-warning']],
    [400, 'unknown field messageid, did you mean message_id?'],
    'refusals have it, too',
  );
});

test('HTTP-3: on a test key X-Service-Warning names unknown fields inside a manifest, and components that the catalog does not have', async () => {
  const client = createClient(it.service.baseUrl, it.app.testKey);
  const order = { type: 'string', example: 'A-1', requred: true };
  const action = { name: 'find', description: 'Finds it.', params: { order }, parms: {}, confirmTemplate: 'x', timeout_ms: 5_000 };
  const manifest = {
    version: '1',
    actions: [{ name: 'plain', description: 'Does it.' }, action],
    routes: [{ name: 'a', title: 'A', tilte: '' }],
  };
  const posted = await client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/1.0.0' });
  assert.equal(posted.status, 200, posted.text);
  assert.deepEqual(String(posted.headers['x-service-warning']).split('; '), [
    'unknown field manifest.actions[1].params.order.requred, did you mean manifest.actions[1].params.order.required?',
    'unknown field manifest.actions[1].parms, did you mean manifest.actions[1].params?',
    'unknown field manifest.actions[1].confirmTemplate, did you mean manifest.actions[1].confirm_template?',
    'unknown field manifest.actions[1].timeout_ms, did you mean manifest.actions[1].timeoutMs?',
    'unknown field manifest.routes[0].tilte, did you mean manifest.routes[0].title?',
  ]);
  it.script([{ text: 'Yes.' }]);
  const components = ['text', 'txt', 'timeline@1', 'confirmcard'];
  const { headers } = await client.chat({ message: { text: 'Hello' }, client: { ...HANDSHAKE, components } });
  assert.deepEqual(String(headers['x-service-warning']).split('; '), [
    'unknown name txt in client.components[1], did you mean text?',
    'unknown name confirmcard in client.components[3], did you mean confirm_card?',
  ]);
});

test('HTTP-26: null in an optional field is absence: in a turn, in an answer to a card, in a manifest', async () => {
  const none = {
    message: null,
    form_submission: null,
    tool_results: null,
    selection: null,
    attachments: null,
    context: null,
    turn_id: null,
  };
  const client = { ...HANDSHAKE, manifest_hash: null, locale: null, capabilities: null, action_kinds: null };
  const context = { app_state: null, current_screen: null, open_forms: null };
  it.script([{ text: 'Yes.' }]);
  const answer = await it.say('Hello', { ...none, message: { text: 'Hello' }, client, context });
  assert.equal(answer.events.at(-1)?.status, 'completed');
  assert.doesNotMatch(JSON.stringify(it.lastRequest().messages), /null/);
  const refused = await it.client.chat({ ...none, client });
  assert.deepEqual([refused.status, /exactly one of message/.test(refused.text)], [400, true]);
  const param = { type: 'string', description: null, required: null, enum: null, items: null, editable: null };
  const action = { name: 'ring_bell', description: 'Rings.', risk: null, params: { tone: param }, confirm_template: null };
  const more = { confirm_labels: null, type_to_confirm: null, timeoutMs: null };
  const route = { name: 'home', title: 'Home', description: null, params: null };
  const manifest = {
    version: '1',
    actions: [
      { ...action, ...more },
      { name: 'b', description: 'B.', params: null },
    ],
    routes: [route],
  };
  const posted = await it.client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/0.50.0' });
  assert.equal(posted.status, 200, posted.text);
  const { manifest_hash } = posted.json as { manifest_hash: string };
  const canonical = canonicalize(manifest) ?? '';
  assert.equal(manifest_hash, createHash('sha256').update(canonical).digest('hex'), 'the hash is that of what was posted');
  it.script([{ call: 'ring_bell', args: {} }]);
  const turn = await it.say('Ring', { client: { ...HANDSHAKE, manifest_hash } });
  assert.equal(turn.events.at(-1)?.status, 'awaiting_tool_results', 'it is a read action, as where no risk is named');
  const unset = { manifest: { ...manifest, routes: null }, sdk: 'web/0.50.0' };
  assert.equal((await it.client.send('POST', '/v1/apps/manifest', unset)).status, 200);
  const nameless = { ...manifest, actions: [{ ...action, name: null }] };
  assert.equal((await it.client.send('POST', '/v1/apps/manifest', { manifest: nameless, sdk: 'web/0.50.0' })).status, 400);
  const decided = await it.client.send('POST', '/v1/invocations/inv_none/confirm', { decision: 'confirm', typed: null, revision: null });
  assert.equal(decided.status, 404);
});

test('CHAT-15: key, then origin, then the device, then the body', async () => {
  await it.operator('PATCH', `/apps/${it.app.appId}`, { allowed_domains: ['shop.example'] });
  const told = async (headers: Record<string, string>) => {
    const { status, json } = await it.client.send('POST', '/v1/chat', '{', headers);
    const { error } = json as { error: { code: string; details?: { path: string }[] } };
    return [status, error.code, error.details?.[0]?.path];
  };
  const wrong = { 'X-Service-Key': 'rd_pk_live_nobody_has_this', Origin: 'https://elsewhere.example', 'X-Service-Device': 'x' };
  assert.deepEqual(await told(wrong), [401, 'invalid_key', undefined]);
  const { 'X-Service-Key': _, ...known } = wrong;
  assert.deepEqual(await told(known), [403, 'origin_not_allowed', undefined]);
  assert.deepEqual(await told({ ...known, Origin: 'https://shop.example' }), [400, 'invalid_request', 'X-Service-Device']);
  assert.deepEqual(await told({ Origin: 'https://shop.example' }), [400, 'invalid_request', undefined]);
});
