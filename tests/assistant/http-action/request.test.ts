import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActionRequest, renderRequest } from '../../../assistant/http-action/request.ts';
import type { ActionDefinition } from '../../../protocol/setup/action-rules.ts';
import { definitionOf, WRITE } from './action-definition.ts';

const TOKEN = 'user-token';
const KEY = 'shared-key';
const CREDENTIALS = { invocationId: 'inv_1', userToken: TOKEN, sharedKey: KEY, receipt: undefined };

function rendered(
  definition: ActionDefinition,
  params: Record<string, unknown> = {},
  more: Partial<typeof CREDENTIALS> = {},
): ActionRequest {
  const result = renderRequest(definition, params, { ...CREDENTIALS, ...more });
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.request;
}

function refused(
  definition: ActionDefinition,
  params: Record<string, unknown>,
  reason: RegExp,
  more: Partial<typeof CREDENTIALS> = {},
): void {
  const result = renderRequest(definition, params, { ...CREDENTIALS, ...more });
  assert.ok(!result.ok);
  assert.match(result.reason, reason);
  assert.match(result.reason, /^[A-Z].*\.$/);
  for (const secret of [TOKEN, KEY, more.userToken, more.sharedKey]) assert.ok(!secret || !result.reason.includes(secret));
}

/** Where token and key are found: headers that are not on every request, and the query. */
function credentialsOf({ headers, url }: ActionRequest): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => !['accept', 'accept-encoding', 'user-agent', 'idempotency-key'].includes(name));
  return Object.fromEntries([...own, ...[...url.searchParams].map(([name, value]) => [`?${name}`, value] as const)]);
}

test('CALL-2: token and shared key go where the action says, beside each other', () => {
  const token = { auth: 'user' } as const;
  const table: readonly [Parameters<typeof definitionOf>[0], Record<string, string>][] = [
    [{}, {}],
    [{ auth: 'none', needs_key: { kind: 'bearer' } }, { authorization: 'Bearer shared-key' }],
    [{ needs_key: { kind: 'header', name: 'X-Api-Key' } }, { 'x-api-key': KEY }],
    [{ needs_key: { kind: 'header', name: 'Authorization' } }, { authorization: KEY }],
    [{ needs_key: { kind: 'query', name: 'k' } }, { '?k': KEY }],
    [token, { authorization: 'Bearer user-token' }],
    [{ ...token, auth_name: 'header:X-User' }, { 'x-user': TOKEN }],
    [{ ...token, auth_name: 'header:Authorization' }, { authorization: TOKEN }],
    [{ ...token, auth_name: 'query:t' }, { '?t': TOKEN }],
    [{ ...token, auth_name: 'cookie:sid' }, { cookie: 'sid=user-token' }],
    [
      { ...token, auth_name: 'header:X-User', needs_key: { kind: 'bearer' } },
      { 'x-user': TOKEN, authorization: 'Bearer shared-key' },
    ],
    [
      { ...token, auth_name: 'query:t', needs_key: { kind: 'bearer' } },
      { '?t': TOKEN, authorization: 'Bearer shared-key' },
    ],
    [
      { ...token, auth_name: 'cookie:sid', needs_key: { kind: 'bearer' } },
      { cookie: 'sid=user-token', authorization: 'Bearer shared-key' },
    ],
    [
      { ...token, needs_key: { kind: 'header', name: 'X-Api-Key' } },
      { authorization: 'Bearer user-token', 'x-api-key': KEY },
    ],
    [
      { ...token, needs_key: { kind: 'query', name: 'k' } },
      { authorization: 'Bearer user-token', '?k': KEY },
    ],
    [
      { ...token, auth_name: 'query:t', needs_key: { kind: 'query', name: 'k' } },
      { '?t': TOKEN, '?k': KEY },
    ],
    [
      { ...token, auth_name: 'cookie:sid', needs_key: { kind: 'header', name: 'X-Api-Key' } },
      { cookie: 'sid=user-token', 'x-api-key': KEY },
    ],
    // Names that the service's own headers have, and one that every object has.
    [{ ...token, auth_name: 'header:User-Agent' }, {}],
    [{ ...token, auth_name: 'header:__proto__' }, JSON.parse('{"__proto__":"user-token"}')],
  ];
  for (const [fields, expected] of table) assert.deepEqual(credentialsOf(rendered(definitionOf(fields))), expected, JSON.stringify(fields));
  assert.equal(rendered(definitionOf({ ...token, auth_name: 'header:User-Agent' })).headers['user-agent'], TOKEN);
});

test('CALL-3: every request says what it takes and which call it is; a receipt and a body add their headers', () => {
  const read = rendered(definitionOf(), {}, { sharedKey: 'x', userToken: 'y' });
  assert.deepEqual(read.headers, {
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'assistant-service',
    'idempotency-key': 'inv_1',
  });
  assert.deepEqual([read.method, read.url.href, read.body], ['GET', 'https://api.shop.example/orders', undefined]);
  const result = renderRequest(definitionOf({ ...WRITE, body_template: '{}' }), {}, { ...CREDENTIALS, receipt: 'h.c.s' });
  assert.ok(result.ok);
  assert.equal(result.request.headers['x-service-confirmation'], 'h.c.s');
  assert.equal(result.request.headers['content-type'], 'application/json');
  assert.equal(result.request.body, '{}');
});

test('CALL-2: without the token or the key that it needs nothing is made', () => {
  const user = definitionOf({ auth: 'user' });
  for (const userToken of [undefined, '']) {
    const result = renderRequest(user, {}, { ...CREDENTIALS, userToken });
    assert.deepEqual(result, { ok: false, reason: 'The action needs the person to be signed in: the app sent no X-Service-User-Token.' });
  }
  const keyed = renderRequest(definitionOf({ needs_key: { kind: 'bearer' } }), {}, { ...CREDENTIALS, sharedKey: undefined });
  assert.deepEqual(keyed, { ok: false, reason: 'The action waits for a shared key that a person enters in the console.' });
});

test('CALL-2: a credential cannot end its header or its cookie', () => {
  for (const bad of ['secret\r\nX-Evil: 1', 'secret\nb', 'secret\0b', 'sécret', '日本', ' secret', 'secret ', 'secret\u{7f}']) {
    refused(definitionOf({ auth: 'user', auth_name: 'header:X-User' }), {}, /token holds characters that a header cannot carry/, {
      userToken: bad,
    });
    refused(definitionOf({ needs_key: { kind: 'header', name: 'X-Api-Key' } }), {}, /shared key .* a header cannot carry/, {
      sharedKey: bad,
    });
  }
  for (const bad of ['secret;admin=1', 'secret b', 'secret,b', '"secret"', 'secret\\b', 'secret\nb']) {
    refused(definitionOf({ auth: 'user', auth_name: 'cookie:sid' }), {}, /a cookie cannot carry/, { userToken: bad });
  }
  const query = rendered(definitionOf({ auth: 'user', auth_name: 'query:t' }), {}, { userToken: 'a&b=c#d\r\n é' });
  assert.deepEqual([...query.url.searchParams], [['t', 'a&b=c#d\r\n é']]);
});

test('CALL-2: a credential of the query has its name to itself, whatever a parameter names', () => {
  const params = [{ name: 'field' }];
  const definition = definitionOf({
    auth: 'user',
    auth_name: 'query:t',
    params,
    url_template: 'https://api.shop.example/?{{param.field}}=1',
  });
  refused(definition, { field: 't' }, /has the query parameter of a credential already/);
  assert.equal(rendered(definition, { field: 'T' }).url.search, '?T=1&t=user-token');
});

test('CALL-1: a value in the path is one component; one that is a path of its own is refused', () => {
  const definition = definitionOf({ params: [{ name: 'id' }], url_template: 'https://api.shop.example/v1/{{param.id}}/lines' });
  const kept: Record<string, string> = {
    'a/b': 'a%2Fb',
    'a\\b': 'a%5Cb',
    '?x#y': '%3Fx%23y',
    'ü ': '%C3%BC%20',
    '...': '...',
    '.a': '.a',
    '%2F': '%252F',
  };
  for (const [id, segment] of Object.entries(kept)) {
    assert.equal(rendered(definition, { id }).url.href, `https://api.shop.example/v1/${segment}/lines`);
  }
  for (const id of ['.', '..', '%2e', '%2E.', '../x', 'x/..', 'x\\..\\y', '..%2Fx', 'x/./y'])
    refused(definition, { id }, /value of id must not be a path/);
  refused(definition, { id: '' }, /with an empty id/);
  refused(definition, {}, /cannot be called without id/);
  refused(definition, { id: null }, /cannot be called without id/);
  // Together with what stands beside it, too.
  const beside = definitionOf({ params: [{ name: 'id' }], url_template: 'https://api.shop.example/.{{param.id}}/%{{param.id}}' });
  refused(beside, { id: '.' }, /must not be a path/);
  refused(beside, { id: '2e' }, /must not be a path/);
  assert.equal(rendered(beside, { id: '2f' }).url.pathname, '/.2f/%252f');
});

test('CALL-1: what was left out takes its pair of the query and its member of the body with it', () => {
  const params = [{ name: 'q' }, { name: 'page', type: 'number' }, { name: 'tags', type: 'array' }, { name: 'urgent', type: 'boolean' }];
  const definition = definitionOf({
    ...WRITE,
    params,
    url_template: 'https://api.shop.example/?q={{param.q}}&range={{param.page}}-{{param.q}}&tags={{param.tags}}&all=1#{{param.q}}',
    body_template:
      '{"q":{{param.q}},"text":"{{param.q}}","say":"q: {{param.q}}","in":[{{param.q}}],"page":{{param.page}},"tags":{{param.tags}},"u":{"now":{{param.urgent}}}}',
  });
  const none = rendered(definition);
  assert.equal(none.url.href, 'https://api.shop.example/?all=1');
  assert.equal(none.body, '{"say":"q: ","in":[null],"u":{}}');
  const all = rendered(definition, { q: '👍🏿 "a"', page: 2, tags: ['x,y', 'z'], urgent: false });
  assert.deepEqual(
    [...all.url.searchParams],
    [
      ['q', '👍🏿 "a"'],
      ['range', '2-👍🏿 "a"'],
      ['tags', 'x,y,z'],
      ['all', '1'],
    ],
  );
  const q = '👍🏿 "a"';
  assert.deepEqual(JSON.parse(all.body ?? ''), { q, text: q, say: `q: ${q}`, in: [q], page: 2, tags: ['x,y', 'z'], u: { now: false } });
  // The same dark hand beside a value that was left out.
  assert.deepEqual(JSON.parse(rendered(definition, { q }).body ?? ''), { q, text: q, say: `q: ${q}`, in: [q], u: {} });
});
