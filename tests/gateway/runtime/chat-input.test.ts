/** What a malformed request is told, row by row. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { request } from 'undici';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { createClient, createOperator, createTestApp, HANDSHAKE, outline } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly details?: readonly { path: string; message: string }[] };
}

const upstream = await startUpstream(FILE, () => [{ text: 'Fine.' }]);
const service = await startService(FILE, { env: { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'silent' } });
const app = await createTestApp(service.baseUrl, service.operatorToken);
const client = createClient(service.baseUrl, app.liveKey);
/** With a test key. */
const tester = createClient(service.baseUrl, app.testKey);

const HELLO = { message: { text: 'Hello' } };
const RESULT = { invocation_id: 'inv_0', status: 'ok' };
const withClient = (fields: Record<string, unknown>) => ({ ...HELLO, client: { ...HANDSHAKE, ...fields } });
const withContext = (context: unknown) => ({ ...HELLO, context });
const withResult = (fields: Record<string, unknown>) => ({ conversation_id: 'cnv_0', tool_results: [{ ...RESULT, ...fields }] });
const withValue = (value: unknown) => ({ conversation_id: 'cnv_0', form_submission: { form_id: 'blk_0', values: { size: value } } });
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** 400 `invalid_request` every one; the path is that of the first detail, and the message begins with it. */
const MALFORMED: readonly (readonly [string, Record<string, unknown>, path: string])[] = [
  ['no payload', {}, ''],
  ['message and tool_results', { ...HELLO, conversation_id: 'cnv_0', tool_results: [RESULT] }, ''],
  ['message and form_submission', { ...HELLO, form_submission: { form_id: 'blk_0', values: {} } }, ''],
  ['message of another type', { message: 'Hello' }, 'message'],
  ['message null and nothing else', { message: null }, ''],
  ['message without text', { message: {} }, 'message.text'],
  ['text that is a number', { message: { text: 7 } }, 'message.text'],
  ['empty text', { message: { text: '' } }, 'message.text'],
  ['white space alone', { message: { text: ' \n\u00a0\t' } }, 'message.text'],
  ['white space with no attachments', { message: { text: ' ' }, attachments: [] }, 'message.text'],
  ['4,001 emoji', { message: { text: '😀'.repeat(4_001) } }, 'message.text'],
  ['no handshake', { ...HELLO, client: undefined }, 'client'],
  ['handshake of another type', { ...HELLO, client: [] }, 'client'],
  ['another protocol', withClient({ protocol: 2 }), 'client.protocol'],
  ['sdk without a version', withClient({ sdk: 'web' }), 'client.sdk'],
  ['a component that is no name', withClient({ components: ['text', 'Not a name'] }), 'client.components[1]'],
  ['components of another type', withClient({ components: 'text' }), 'client.components'],
  ['33 capabilities', withClient({ capabilities: times(33, (n) => `c${n}`) }), 'client.capabilities'],
  ['a hash that is no text', withClient({ manifest_hash: 7 }), 'client.manifest_hash'],
  ['turn_id that is no uuid', { ...HELLO, turn_id: 'turn-1' }, 'turn_id'],
  ['turn_id that is a number', { ...HELLO, turn_id: 1 }, 'turn_id'],
  ['conversation_id of another type', { ...HELLO, conversation_id: { $ne: null } }, 'conversation_id'],
  ['no results', { conversation_id: 'cnv_0', tool_results: [] }, 'tool_results'],
  ['results without a conversation', { tool_results: [RESULT] }, 'conversation_id'],
  ['a result of an unknown status', withResult({ status: 'done' }), 'tool_results[0].status'],
  ['confirmed that is no boolean', withResult({ confirmed: 'true' }), 'tool_results[0].confirmed'],
  ['an error of 501 characters', withResult({ error: 'x'.repeat(501) }), 'tool_results[0].error'],
  ['a form value that is an object', withValue({}), 'form_submission.values.size'],
  ['a user without an id', { ...HELLO, user: {} }, 'user.id'],
  ['a user id of 129', { ...HELLO, user: { id: 'u'.repeat(129) } }, 'user.id'],
];

for (const [title, body, path] of MALFORMED) {
  test(`HTTP-2, CHAT-1, CHAT-4: 400 names the field: ${title}`, async () => {
    const answer = await client.chat(body);
    assert.equal(answer.status, 400, answer.text);
    const { error } = answer.json as ErrorAnswer;
    assert.equal(error.code, 'invalid_request');
    assert.equal(error.details?.[0]?.path, path);
    assert.ok(error.message.startsWith(path === '' ? 'the body' : path), error.message);
  });
}

const screen = { name: 'cart' };
const forms = (count: number) => times(count, (n) => ({ form_id: `blk_${n}`, values: {} }));

/** What is left out of a context, what stays of it, and what a test key is warned of. */
const LEFT_OUT: readonly (readonly [string, context: unknown, stays: string | undefined, warning: string])[] = [
  [
    'a screen that is a string',
    { current_screen: 'cart', app_state: 'kept' },
    'kept',
    'context.current_screen must be an object: left out',
  ],
  ['a screen without a name', { current_screen: {}, app_state: 'kept' }, 'kept', 'context.current_screen.name is required: left out'],
  [
    'one byte more than 8 KB of app_state',
    { app_state: 'x'.repeat(8 * 1024 - 1), current_screen: screen },
    '"name":"cart"',
    'context.app_state must serialize to at most 8192 bytes: left out',
  ],
  [
    '8 KB in bytes, fewer in characters',
    { app_state: 'é'.repeat(4_096), current_screen: screen },
    '"name":"cart"',
    'context.app_state must serialize to at most 8192 bytes: left out',
  ],
  ['4 open forms', { open_forms: forms(4), app_state: 'kept' }, 'kept', 'context.open_forms must list at most 3 forms: left out'],
  ['a context that is a list', ['cart'], undefined, 'context must be an object: left out'],
  [
    'a name that no header may hold',
    { current_screen: { name: 'cart', params: { 'ä\r\nX: y': {} } } },
    undefined,
    'context.current_screen.params.???X: y must be a string, a number or a boolean: left out',
  ],
];

for (const [title, context, stays, warning] of LEFT_OUT) {
  test(`CHAT-23, CHAT-3: what does not fit of the context is left out, and the turn goes on: ${title}`, async () => {
    const asked = upstream.requests.length;
    const answer = await tester.chat(withContext(context));
    assert.deepEqual([answer.status, answer.events.at(-1)?.status], [200, 'completed'], answer.text);
    assert.equal(answer.headers['x-service-warning'], warning);
    const told = JSON.stringify(upstream.requests[asked]?.messages.map(({ content }) => content));
    assert.ok(stays === undefined || told.includes(JSON.stringify(stays).slice(1, -1)), told);
    assert.equal((await client.chat(withContext(context))).headers['x-service-warning'], undefined, 'a live key is told nothing');
  });
}

test('CHAT-3: 8 KB of app_state and three open forms fit', async () => {
  const answer = await tester.chat(withContext({ app_state: 'x'.repeat(8 * 1024 - 2), open_forms: forms(3), current_screen: screen }));
  assert.deepEqual([answer.status, answer.headers['x-service-warning']], [200, undefined]);
});

test('HTTP-2: details are twelve at most, and the message says that there are more', async () => {
  const answer = await client.chat(withClient({ components: times(40, () => 'NOT A NAME') }));
  const { error } = answer.json as ErrorAnswer;
  assert.equal(answer.status, 400);
  assert.equal(error.details?.length, 12);
  assert.match(error.message, /^client\.components\[0\] .*more/);
});

const NESTED = `{"message":{"text":"Hi"},"context":{"app_state":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
const PLAIN = JSON.stringify({ ...HELLO, client: HANDSHAKE });
const polluted = (key: string) => PLAIN.replace('{"message":{', `{"message":{${key},`);

/** What never becomes a body: the bytes, the status, and what the message names. */
const UNREADABLE: readonly (readonly [string, body: string | Buffer, status: number, code: string, names: RegExp, type?: string])[] = [
  ['not JSON', '{"message":', 400, 'invalid_request', /not valid JSON/],
  ['JSON and more', `${PLAIN}x`, 400, 'invalid_request', /not valid JSON/],
  ['an empty body', '', 400, 'invalid_request', /JSON body is required/],
  ['a list', '[]', 400, 'invalid_request', /^\S+ /],
  ['null', 'null', 400, 'invalid_request', /the body must be an object/],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400, 'invalid_request', /UTF-8/],
  ['half a surrogate pair', PLAIN.replace('Hello', '\\ud83d'), 400, 'invalid_request', /surrogate/],
  ['100,000 levels', NESTED, 400, 'invalid_request', /nests deeper/],
  ['100,000 levels that never close', '['.repeat(100_000), 400, 'invalid_request', /nests deeper/],
  ['a __proto__ key', polluted('"__proto__":{"admin":true}'), 400, 'invalid_request', /__proto__/],
  ['an escaped __proto__ key', polluted('"\\u005f_proto__":{"admin":true}'), 400, 'invalid_request', /__proto__/],
  ['a constructor.prototype key', polluted('"constructor":{"prototype":{}}'), 400, 'invalid_request', /constructor\.prototype/],
  ['another content type', PLAIN, 400, 'invalid_request', /Content-Type must be application\/json/, 'text/plain'],
  ['another charset', PLAIN, 400, 'invalid_request', /Content-Type .*UTF-8/, 'application/json; charset=utf-16'],
  ['a body over 256 KB', `{"a":"${'x'.repeat(300_000)}"}`, 413, 'payload_too_large', /bytes at most/],
];

for (const [title, body, status, code, names, type = 'application/json'] of UNREADABLE) {
  test(`HTTP-1, HTTP-4: ${status} ${code} says what is wrong: ${title}`, async () => {
    const answer = await request(`${service.baseUrl}/v1/chat`, {
      method: 'POST',
      headers: { ...client.headers, 'Content-Type': type },
      body,
    });
    const { error } = (await answer.body.json()) as ErrorAnswer;
    assert.equal(answer.statusCode, status);
    assert.equal(error.code, code);
    assert.match(error.message, names);
  });
}

test('HTTP-5: 413 payload_too_large: a body without a length is counted while it comes, and one that fits is read', async () => {
  const send = (body: readonly Buffer[]) =>
    request(`${service.baseUrl}/v1/chat`, {
      method: 'POST',
      headers: { ...client.headers, 'Content-Type': 'application/json' },
      body: Readable.from(body),
    });
  const answer = await send(times(40, () => Buffer.alloc(8 * 1024, 'x')));
  assert.equal(answer.statusCode, 413);
  assert.equal(((await answer.body.json()) as ErrorAnswer).error.code, 'payload_too_large');
  const whole = await send([Buffer.from(PLAIN.slice(0, 20)), Buffer.from(PLAIN.slice(20))]);
  assert.equal(whole.statusCode, 200);
  assert.match(await whole.body.text(), /Fine/);
});

/** Headers of the caller: what they are, the status, the code, and what the message names. */
const CALLERS: readonly (readonly [string, () => Record<string, string>, status: number, code: string, names: RegExp])[] = [
  ['the live key said to be a test key', () => ({ 'X-Service-Key': app.liveKey.replace('live', 'test') }), 401, 'invalid_key', /key/],
  ...['D'.repeat(32), 'd'.repeat(31), 'd'.repeat(33), 'not-hex', "'; DROP TABLE turns; --"].map(
    (device) =>
      [
        `device ${device}`,
        () => ({ 'X-Service-Key': app.liveKey, 'X-Service-Device': device }),
        400,
        'invalid_request',
        /X-Service-Device/,
      ] as const,
  ),
];

for (const [title, headers, status, code, names] of CALLERS) {
  test(`KEY-1, KEY-8: ${status} ${code} for ${title}`, async () => {
    const answer = await request(`${service.baseUrl}/v1/chat`, {
      method: 'POST',
      headers: { ...headers(), 'Content-Type': 'application/json' },
      body: PLAIN,
    });
    const { error } = (await answer.body.json()) as ErrorAnswer;
    assert.equal(answer.statusCode, status);
    assert.equal(error.code, code);
    assert.match(error.message, names);
  });
}

test('KEY-1: a revoked key is 401 invalid_key from the next request on', async () => {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { key } = (await operator('POST', `/apps/${app.appId}/keys`, { channel: 'live' })).json as { key: { id: string; key: string } };
  const other = createClient(service.baseUrl, key.key);
  assert.equal((await other.say('Hello')).status, 200);
  assert.equal((await operator('DELETE', `/apps/${app.appId}/keys/${key.id}`)).status, 200);
  const refused = await other.say('Hello');
  assert.equal(refused.status, 401);
  assert.equal((refused.json as ErrorAnswer).error.code, 'invalid_key');
});

test('CONSOLE-10: what nearly every turn writes changes no row of an app, so that apps that are kept stay true', async () => {
  await client.say('Hello');
  for (const name of readdirSync(join(service.dataDir, 'organisations')).filter((file) => file.endsWith('.sqlite'))) {
    const db = openWriter(join(service.dataDir, 'organisations', name), { mustExist: true });
    for (const write of ['UPDATE', 'DELETE'])
      db.exec(`CREATE TRIGGER apps_outlive_${write} BEFORE ${write} ON apps BEGIN SELECT RAISE(ABORT, 'an app was written'); END`);
    db.close();
  }
  const other = createClient(service.baseUrl, app.liveKey);
  assert.equal((await other.say('Mail me at someone@example.com')).events.at(-1)?.status, 'completed');
  assert.equal((await other.send('POST', '/v1/identify', { external_user_id: 'u1' })).status, 200);
});

/** What only the rows know is told in the stream (error, then turn.end, and no turn.start: CHAT-16). */
const IN_STREAM: readonly (readonly [string, Record<string, unknown>, code: string, names: RegExp])[] = [
  ['results for an unknown conversation', { conversation_id: 'cnv_nobody', tool_results: [RESULT] }, 'invalid_request', /conversation_id/],
  [
    'a form of an unknown conversation',
    { conversation_id: 'cnv_nobody', form_submission: { form_id: 'b', values: {} } },
    'invalid_request',
    /conversation_id/,
  ],
  ['a selection in an unknown block', { ...HELLO, selection: { block_id: 'blk_0', ids: ['a'] } }, 'invalid_request', /selection/],
  ['an attachment nobody uploaded', { ...HELLO, attachments: [{ upload_id: 'upl_0' }] }, 'invalid_request', /attachments\[0\]/],
];

for (const [title, body, code, names] of IN_STREAM) {
  test(`CHAT-6, CHAT-16: ${code} in the stream, nothing else said: ${title}`, async () => {
    const { status, events } = await client.chat(body);
    assert.equal(status, 200);
    assert.deepEqual(outline(events), ['error', 'turn.end']);
    assert.deepEqual([events[0]?.code, events[0]?.retryable, events[1]?.status], [code, false, 'error']);
    assert.match(String(events[0]?.message), names);
  });
}

test('ACTION-4: results for a call that is not of this conversation name the result', async () => {
  const { events } = await client.say('Hello');
  const conversationId = String(events[0]?.conversation_id);
  const refused = await client.chat({ conversation_id: conversationId, tool_results: [RESULT] });
  assert.deepEqual(outline(refused.events), ['error', 'turn.end']);
  assert.equal(refused.events[0]?.code, 'invalid_request');
  assert.match(String(refused.events[0]?.message), /^tool_results\[0\]\.invocation_id /);
});

/** What is right at its very limit. */
const ACCEPTED: readonly (readonly [string, Record<string, unknown>])[] = [
  ['4,000 emoji', { message: { text: '😀'.repeat(4_000) } }],
  ['fields of a newer SDK', { ...withClient({ later: { a: 1 } }), later: ['b'] }],
  ['nulls for what is left out', { ...HELLO, conversation_id: null, turn_id: null, user: null }],
  ['no turn_id', { ...HELLO, turn_id: undefined }],
  ['an unknown conversation with a message: a new one opens', { ...HELLO, conversation_id: 'cnv_nobody', turn_id: randomUUID() }],
];

for (const [title, body] of ACCEPTED) {
  test(`CHAT-1: accepted: ${title}`, async () => {
    const { status, events, text } = await client.chat(body);
    assert.equal(status, 200, text);
    assert.equal(events[0]?.type, 'turn.start', text);
    assert.deepEqual([events.at(-1)?.type, events.at(-1)?.status], ['turn.end', 'completed']);
    assert.notEqual(events[0]?.conversation_id, 'cnv_nobody');
  });
}

test('HTTP-17: a hundred at once, and the process answers the next well-formed request', async () => {
  const answers = await Promise.all(
    times(100, (n) => {
      const [, body, , , , type = 'application/json'] = UNREADABLE[n % UNREADABLE.length] as (typeof UNREADABLE)[number];
      return request(`${service.baseUrl}/v1/chat`, { method: 'POST', headers: { ...client.headers, 'Content-Type': type }, body });
    }),
  );
  for (const answer of answers) {
    assert.ok(answer.statusCode === 400 || answer.statusCode === 413, String(answer.statusCode));
    await answer.body.dump();
  }
  const { events } = await client.say('Hello again');
  assert.equal(events.at(-1)?.status, 'completed');
  assert.doesNotThrow(() => process.kill(service.pid, 0));
});
