/** HTTP actions as the model, the person and the app's server meet them. */
import assert from 'node:assert/strict';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { sendJson, startBackend } from '../../support/backend.ts';
import { createClient, createOperator, createTestApp, HANDSHAKE, outline, type StreamAnswer, spoken } from '../../support/client.ts';
import { readMetrics } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { type Play, startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { DONE, gate, pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';

const USER_TOKEN = 'person-token-4f1c9e';
const SHARED_KEY = 'shared-key-77aa01';

const FIND: Play = { call: 'find_order', args: { id: 'A/7 &x=1' }, id: 'call_find' };
const CANCEL: Play = { call: 'cancel_order', args: { id: '7', note: 'Too "late"' }, id: 'call_cancel' };

const backend = await startBackend(FILE);
const it = await startScriptedChat(FILE, { env: { ALLOW_PRIVATE_ADDRESSES: 'true' } });
const { operator } = it;
const items = [
  {
    external_key: 'find',
    name: 'find_order',
    description: 'Finds an order.',
    method: 'GET',
    url_template: `${backend.url}/orders/{{param.id}}?full=true`,
    params: [{ name: 'id', description: 'Its id.', required: true }],
    result_path: 'data.orders',
    result_fields: ['id', 'state'],
    result_limit: 2,
    needs_key: { kind: 'header', name: 'X-Shop-Key' },
  },
  {
    external_key: 'cancel',
    name: 'cancel_order',
    description: 'Cancels an order.',
    method: 'POST',
    risk: 'write',
    confirm_template: 'Cancel order {id}?',
    url_template: `${backend.url}/orders/{{param.id}}/cancel`,
    body_template: '{"note": "{{param.note}}"}',
    params: [{ name: 'id', required: true }, { name: 'note' }],
    auth: 'user',
    timeout_ms: 1_000,
  },
  {
    external_key: 'profile',
    name: 'my_profile',
    description: 'Reads the profile.',
    method: 'GET',
    url_template: `${backend.url}/me`,
    auth: 'user',
    auth_name: 'header:X-Person',
  },
];
const saved = await operator('POST', `/apps/${it.app.appId}/actions`, { items });
assert.equal(saved.status, 200, saved.text);
const key = await operator('PUT', `/apps/${it.app.appId}/actions/find_order/key`, { value: SHARED_KEY });
assert.ok(key.status < 300, key.text);

beforeEach(() => {
  backend.clear();
  backend.answer((_, response) => sendJson(response, { ok: true }));
});

const say = async (text: string): Promise<StreamAnswer> => it.client.chat({ message: { text } }, { 'X-Service-User-Token': USER_TOKEN });

async function go(first: StreamAnswer, result: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<StreamAnswer> {
  const tool_results = [{ invocation_id: pendingOf(first)[0]?.invocation_id, ...result }];
  return it.client.chat({ conversation_id: thread(first), tool_results, ...more }, { 'X-Service-User-Token': USER_TOKEN });
}

function confirm(first: StreamAnswer, decision = 'confirm') {
  return it.client.send('POST', `/v1/invocations/${pendingOf(first)[0]?.invocation_id}/confirm`, { decision });
}

test('ACTION-9: a read runs on the server within the turn, with its shared key; the model sees what its result fields say', async () => {
  backend.answer((_, response) => sendJson(response, { data: { orders: [1, 2, 3].map((id) => ({ id, state: 'shipped', secret: 'x' })) } }));
  it.script([{ text: 'Let me look. ' }, FIND], [{ text: 'It was shipped.' }]);
  const { events } = await it.say('Where is it?');
  assert.equal((await readMetrics(it.service.baseUrl)).get('assistant_action_seconds_count{outcome="succeeded"}'), 1, 'RUN-43');
  assert.deepEqual(
    outline(events).filter((type) => type !== 'ping'),
    ['turn.start', 'block.start', 'block.delta', 'block.ready', 'block.start', 'block.delta', 'block.ready', 'turn.end'],
  );
  assert.equal(events.at(-1)?.status, 'completed');
  const [request] = backend.requests;
  assert.equal(backend.requests.length, 1);
  assert.deepEqual([request?.method, request?.url], ['GET', '/orders/A%2F7%20%26x%3D1?full=true']);
  assert.equal(request?.headers['x-shop-key'], SHARED_KEY);
  assert.match(String(request?.headers['idempotency-key']), /^inv_/);
  assert.equal(request?.headers['x-service-confirmation'], undefined, 'nobody confirmed anything');
  assert.match(it.toldOf('call_find'), /<<data:[0-9a-f]+ result of find_order>>/);
  assert.match(it.toldOf('call_find'), /"state":"shipped"/);
  assert.doesNotMatch(it.toldOf('call_find'), /secret|"id":3/);
});

test('ACTION-9: what a read found is remembered in the next turn of the conversation', async () => {
  backend.answer((_, response) => sendJson(response, { data: { orders: [{ id: 1, state: 'packed' }] } }));
  it.script([FIND], [{ text: 'It is packed.' }], [{ text: 'As I said.' }]);
  const first = await it.say('Where is it?');
  await it.say('And now?', { conversation_id: thread(first) });
  assert.match(it.toldOf('call_find'), /"state":"packed"/);
  assert.equal(backend.requests.length, 1);
});

test("CALL-2: auth user sends the person's token where auth_name says, and without one nothing is sent", async () => {
  it.script([{ call: 'my_profile', args: {}, id: 'call_me' }], [{ text: 'Hello.' }]);
  await say('Who am I?');
  assert.equal(backend.requests[0]?.headers['x-person'], USER_TOKEN);
  assert.equal(backend.requests[0]?.headers.authorization, undefined);
  backend.clear();
  it.script([{ call: 'my_profile', args: {}, id: 'call_me' }], [{ text: 'Sign in, please.' }]);
  await it.say('Who am I?');
  assert.equal(backend.requests.length, 0);
  assert.match(it.toldOf('call_me'), /signed in/);
});

test('ACTION-12: a server-side write is sent once, after the confirmation and its continuation, with key and receipt', async () => {
  it.script([CANCEL], [{ text: 'Cancelled.' }]);
  const first = await say('Cancel order 7');
  assert.equal(first.events.at(-1)?.status, 'awaiting_confirmation');
  const [pending] = (first.events.at(-1)?.pending ?? []) as { executor: string; invocation_id: string }[];
  assert.equal(pending?.executor, 'server');
  assert.equal(readies(first.events)[0]?.body.summary, 'Cancel order 7?');
  assert.equal((await confirm(first)).status, 200);
  assert.equal(backend.requests.length, 0, 'the person agreed; the client has not passed it on');
  const turn = { turn_id: randomUUID() };
  const second = await go(first, { status: 'ok', confirmed: true }, turn);
  assert.deepEqual([outline(second.events), spoken(second.events)], [DONE, 'Cancelled.'], second.text);
  const [request] = backend.requests;
  assert.equal(backend.requests.length, 1);
  assert.deepEqual([request?.method, request?.url, request?.body], ['POST', '/orders/7/cancel', '{"note": "Too \\"late\\""}']);
  assert.equal(request?.headers.authorization, `Bearer ${USER_TOKEN}`);
  assert.equal(request?.headers['idempotency-key'], pending?.invocation_id);
  assert.match(it.toldOf('call_cancel'), /result of cancel_order>>\n.*"ok":true/);
  assert.deepEqual((await go(first, { status: 'ok', confirmed: true }, turn)).events, second.events, 'a retry is told the same');
  assert.equal(backend.requests.length, 1, 'and sends nothing');
  const [message] = (await it.stored(thread(first))).filter(({ blocks }) => blocks.some(({ block_type }) => block_type === 'confirm_card'));
  assert.equal(message?.blocks[0]?.body.status, 'confirmed');
});

test('CONFIRM-19: X-Service-Confirmation is checked with the identity secret alone, and the continuation carries the same', async () => {
  it.script([CANCEL], [{ text: 'Cancelled.' }]);
  const first = await say('Cancel order 7');
  const confirmed = (await confirm(first)).json as { receipt: string };
  const second = await go(first, { status: 'ok', confirmed: true });
  const receipt = String(backend.requests[0]?.headers['x-service-confirmation']);
  const invocation_id = pendingOf(first)[0]?.invocation_id;
  assert.deepEqual(second.events[0]?.receipts, [{ invocation_id, receipt }]);
  assert.equal(confirmed.receipt, receipt);
  const { identity_secret: secret } = (await operator('GET', `/apps/${it.app.appId}/identity-secret`)).json as { identity_secret: string };
  const [header, payload, signature] = receipt.split('.') as [string, string, string];
  assert.equal(createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url'), signature);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
  assert.deepEqual([claims.jti, claims.action, claims.sub], [invocation_id, 'cancel_order', undefined]);
  const hash = createHash('sha256').update('{"id":"7","note":"Too \\"late\\""}').digest('hex');
  assert.equal(claims.params_sha256, hash);
});

test('CONFIRM-22: a receipt says whether the person it names had signed the turn that asked, also when they sign later', async () => {
  const { identity_secret: secret } = (await operator('GET', `/apps/${it.app.appId}/identity-secret`)).json as { identity_secret: string };
  const id = `person-${randomUUID()}`;
  const hmac = createHmac('sha256', secret).update(id).digest('hex');
  const claimsAfter = async (user: Record<string, string>) => {
    it.script([CANCEL]);
    const first = await it.client.chat({ message: { text: 'Cancel order 7' }, user });
    // By now the record is one that was signed for.
    assert.equal((await it.client.send('POST', '/v1/identify', { external_user_id: id, user_hmac: hmac })).status, 200);
    const { receipt } = (await confirm(first)).json as { receipt: string };
    const { sub, sub_verified } = JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return { sub, sub_verified };
  };
  assert.deepEqual(await claimsAfter({ id }), { sub: id, sub_verified: false });
  assert.deepEqual(await claimsAfter({ id, hmac }), { sub: id, sub_verified: true });
});

for (const [what, result] of [
  ['declined', { status: 'declined' }],
  ['ok without confirmed', { status: 'ok' }],
  ['failed on the client', { status: 'error', error: 'no' }],
] as const) {
  test(`CONFIRM-8: a server-side write whose result is ${what} is never sent`, async () => {
    it.script([CANCEL], [{ text: 'Not done.' }]);
    const first = await say('Cancel order 7');
    const second = await go(first, result);
    assert.equal(spoken(second.events), 'Not done.');
    assert.equal(backend.requests.length, 0);
  });
}

test('CONFIRM-9: where the app records confirmations, confirmed: true without a record sends nothing', async () => {
  const set = (value: boolean) => operator('PATCH', `/apps/${it.app.appId}`, { record_confirmations: value });
  await set(true);
  try {
    it.script([CANCEL], [{ text: 'Not done.' }], [CANCEL], [{ text: 'Done.' }]);
    await go(await say('Cancel order 7'), { status: 'ok', confirmed: true });
    assert.equal(backend.requests.length, 0);
    const first = await say('Cancel order 7');
    await confirm(first);
    assert.equal(spoken((await go(first, { status: 'ok', confirmed: true })).events), 'Done.');
    assert.equal(backend.requests.length, 1);
  } finally {
    await set(false);
  }
});

test('CALL-6: a write that the app refuses is told to the model as failed', async () => {
  backend.answer((_, response) => sendJson(response, { error: 'already shipped' }, 409));
  it.script([CANCEL], [{ text: 'It was shipped already.' }]);
  const first = await say('Cancel order 7');
  const second = await go(first, { status: 'ok', confirmed: true });
  assert.equal(spoken(second.events), 'It was shipped already.');
  assert.match(it.toldOf('call_cancel'), /cancel_order failed.*409.*already shipped/s);
});

test('CALL-6, ACTION-13: of a write that is answered by a redirect or by a proxy that gave up nobody knows whether it was done', async () => {
  for (const status of [303, 502, 504]) {
    backend.answer((_, response) => sendJson(response, {}, status));
    it.script([CANCEL], [{ text: 'I do not know.' }]);
    const second = await go(await say('Cancel order 7'), { status: 'ok', confirmed: true });
    assert.match(String(readies(second.events)[0]?.body.md), /could not be found out/, String(status));
  }
  assert.equal(backend.requests.length, 3);
});

test('ACTION-13, CALL-7: a write that does not answer in time is unknown, and the service says so plainly to the person and the model', async () => {
  const silent = gate();
  backend.answer(async (_, response) => {
    await silent.wait;
    sendJson(response, { ok: true });
  });
  it.script([CANCEL], [{ text: 'I do not know.' }]);
  const first = await say('Cancel order 7');
  const second = await go(first, { status: 'ok', confirmed: true });
  silent.open();
  const [warning, words] = readies(second.events);
  assert.match(String(warning?.body.md), /could not be found out whether “cancel order” was done.*not sent a second time/);
  assert.equal(words?.body.md, 'I do not know.');
  assert.match(it.toldOf('call_cancel'), /not known whether cancel_order was done/);
  assert.equal(backend.requests.length, 1);
});

test('CHAT-18: stopping a turn does not cut off a write that is out; how it ended is kept', async () => {
  const arrived = gate();
  const held = gate();
  backend.answer(async (_, response) => {
    arrived.open();
    await held.wait;
    sendJson(response, { ok: true, cancelled: 7 });
  });
  it.script([CANCEL], [{ text: 'It is cancelled.' }]);
  const first = await say('Cancel order 7');
  const turn_id = randomUUID();
  const second = go(first, { status: 'ok', confirmed: true }, { turn_id });
  await arrived.wait;
  const stopped = it.client.send('POST', `/v1/chat/${turn_id}/stop`);
  assert.equal((await second).events.at(-1)?.stopped, true);
  held.open();
  assert.equal((await stopped).status, 200);
  await it.say('Is it?', { conversation_id: thread(first) });
  assert.match(it.toldOf('call_cancel'), /"cancelled":7/);
  assert.equal(backend.requests.length, 1);
});

test('ACTION-11, CALL-6: redirects are not followed, and an action that was taken out of service is not run', async () => {
  backend.answer((_, response) => {
    response.writeHead(302, { Location: `${backend.url}/elsewhere` });
    response.end();
  });
  it.script([FIND], [{ text: 'No luck.' }]);
  await it.say('Where is it?');
  assert.equal(backend.requests.length, 1);
  assert.match(it.toldOf('call_find'), /find_order failed/);
  it.script([CANCEL], [{ text: 'It is gone.' }]);
  const first = await say('Cancel order 7');
  backend.clear();
  const archive = (op: object) => operator('POST', `/apps/${it.app.appId}/actions`, { items: [op] });
  assert.equal((await archive({ external_key: 'cancel', op: 'archive', reason: 'Not now.' })).status, 200);
  await go(first, { status: 'ok', confirmed: true });
  assert.match(it.toldOf('call_cancel'), /not available any more/);
  assert.equal(backend.requests.length, 0);
});

test('ACTION-10: neither the person’s token nor the shared key lies in any file of the service, nor in its log', () => {
  const visit = (dir: string): string[] =>
    readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? visit(join(dir, entry.name)) : [join(dir, entry.name)],
    );
  const files = visit(it.service.dataDir).filter((file) => !file.endsWith('.sock'));
  assert.ok(files.some((file) => file.endsWith('.sqlite')));
  for (const file of files) {
    const bytes = readFileSync(file);
    for (const secret of [USER_TOKEN, SHARED_KEY]) assert.ok(!bytes.includes(secret), `${file} holds ${secret}`);
  }
  const { stdout, stderr } = it.service.output();
  assert.doesNotMatch(stdout + stderr, new RegExp(`${USER_TOKEN}|${SHARED_KEY}`));
});

test('ACTION-8: a build’s own action of the same name goes before the HTTP action', async () => {
  const actions = [{ name: 'my_profile', description: 'Reads the profile on the device.' }];
  const manifest_hash = await it.client.register({ version: '1', actions });
  it.script([{ call: 'my_profile', args: {}, id: 'call_me' }]);
  const { events } = await it.say('Who am I?', { client: { ...HANDSHAKE, manifest_hash } });
  assert.equal(events.find((event) => event.type === 'action.execute')?.name, 'my_profile');
  assert.equal(backend.requests.length, 0);
});

test('ACTION-13: a person who writes on after a crash, and does not retry, is told once that nobody knows whether the write was done', async (t) => {
  const app = await startBackend(t);
  const upstream = await startUpstream(t, ({ messages }) =>
    messages.at(-1)?.content === 'Pay' ? [{ call: 'pay_bill', args: {} }] : [{ text: 'Fine.' }],
  );
  const start = { dataDir: temporaryDir(t), env: { ...upstreamEnv(upstream), DEMO: 'off', ALLOW_PRIVATE_ADDRESSES: 'true' } };
  const first = await startService(t, start);
  const { appId, liveKey } = await createTestApp(first.baseUrl, first.operatorToken);
  const item = { external_key: 'pay', name: 'pay_bill', description: 'Pays.', method: 'POST', risk: 'write', auth: 'user' };
  const items = [{ ...item, confirm_template: 'Pay?', url_template: `${app.url}/pay`, params: [] }];
  const saved = await createOperator(first.baseUrl, first.operatorToken)('POST', `/apps/${appId}/actions`, { items });
  assert.equal(saved.status, 200, saved.text);
  const asked = await createClient(first.baseUrl, liveKey).say('Pay');
  const conversation_id = thread(asked);
  const out = gate();
  app.answer(() => {
    out.open();
    return new Promise(() => {});
  });
  const tool_results = [{ invocation_id: pendingOf(asked)[0]?.invocation_id, status: 'ok', confirmed: true }];
  const cut = createClient(first.baseUrl, liveKey).chat({ conversation_id, tool_results }, { 'X-Service-User-Token': USER_TOKEN });
  await Promise.race([out.wait, cut]);
  await Promise.all([first.stop('SIGKILL'), cut.catch(() => undefined)]);
  const client = createClient((await startService(t, start)).baseUrl, liveKey);
  const words = async () =>
    readies((await client.say('And?', { conversation_id })).events)
      .map(({ body }) => body.md)
      .join(' ');
  assert.match(await words(), /could not be found out whether “pay bill” was done.*Fine\./s);
  assert.equal(await words(), 'Fine.');
  assert.equal(app.requests.length, 1);
});
