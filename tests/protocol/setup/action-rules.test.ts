import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { templateParams, tokenPlace } from '../../../protocol/setup/action-rules.ts';
import { actionsBody } from '../../../protocol/setup/actions.ts';
import { accepts, type Fields, READ, refuses, WRITE } from './judging.ts';

test('SERVERACTION-7: no field accepts a secret', () => {
  refuses(
    READ,
    'url_template',
    ...[
      'https://user@api.example.com/',
      'https://user:secret@api.example.com/',
      'https://api.example.com/?key=AIzaSyD4f9-0123456789abcdef',
      'https://api.example.com/?a=b&KEY=0123456789abcdef',
      'https://api.example.com/?token=AIza123',
      'https://api.example.com/?a=1&API_KEY=x',
      'https://api.example.com/?access_token=x{{param.id}}',
    ].map((url_template) => ({ url_template })),
  );
  accepts(READ, { url_template: 'https://api.example.com/?key={{param.id}}&monkey=1' });
  // What chooses something is no secret.
  for (const value of ['returns', '42', 'order-status-by-customer', 'a1,b2']) {
    accepts(READ, { url_template: `https://api.example.com/settings?key=${value}` });
  }
  refuses(WRITE, 'body_template', { body_template: '{"a": {"password": "hunter2"}}' }, { body_template: '{"api_key":"x"}' });
  accepts(WRITE, { body_template: '{"password": "{{param.id}}"}' });
  const secret = { items: [{ ...READ, needs_key: { kind: 'bearer', value: 's3cret' } }] };
  assert.equal(
    v
      .safeParse(actionsBody, secret)
      .issues?.[0]?.path?.map(({ key }) => key)
      .join('.'),
    'items.0.needs_key.value',
  );
});

test('SERVERACTION-4: a host may be written in punycode, where that is a name', () => {
  for (const host of ['xn--mnchen-3ya.de', 'api.xn--80ak6aa92e.com', 'shop.xn--p1ai', 'XN--MNCHEN-3YA.de']) {
    accepts(READ, { url_template: `https://${host}/orders` });
  }
  refuses(READ, 'url_template', { url_template: 'https://xn--a.example.com/' }, { url_template: 'https://münchen.de/' });
});

test('SERVERACTION-9: auth_name is a header, query parameter or cookie, with auth user only', () => {
  accepts(WRITE, { auth_name: 'header:X-User-Token' }, { auth_name: 'query:user_token' }, { auth_name: 'cookie:session' });
  const malformed = ['X-Token', 'header:', 'header:a b', 'header:ä', 'cookie:a;b', 'query:a&b', 'body:x'];
  const reserved = [
    'Host',
    'content-length',
    'Content-Type',
    'COOKIE',
    'connection',
    'Transfer-Encoding',
    'X-Service-Confirmation',
    'idempotency-key',
  ];
  refuses(
    WRITE,
    'auth_name',
    ...malformed.map((auth_name) => ({ auth_name })),
    ...reserved.map((name) => ({ auth_name: `header:${name}` })),
  );
  refuses(READ, 'auth_name', { auth_name: 'header:X-User-Token' }, { auth: 'none', auth_name: 'query:t' });
  refuses(WRITE, 'auth_name', { url_template: 'https://api.example.com/?t=1', auth_name: 'query:t' });
  assert.deepEqual(tokenPlace({}), { in: 'header', name: 'Authorization', bearer: true });
  assert.deepEqual(tokenPlace({ auth_name: 'query:a.b' }), { in: 'query', name: 'a.b', bearer: false });
});

test('SERVERACTION-9: a bearer key has no name, a header or query key has one that may be used', () => {
  const keys = (...list: Fields[]) => list.map((needs_key) => ({ needs_key }));
  accepts(
    READ,
    ...keys(
      { kind: 'bearer', note: 'From the billing page.' },
      { kind: 'header', name: 'Authorization' },
      { kind: 'query', name: 'api_key' },
    ),
  );
  refuses(READ, 'needs_key.kind', ...keys({}, { kind: 'basic' }));
  refuses(READ, 'needs_key.name', ...keys({ kind: 'header' }, { kind: 'query' }, { kind: 'bearer', name: 'X-Key' }));
  refuses(
    READ,
    'needs_key.name',
    ...keys({ kind: 'header', name: 'Host' }, { kind: 'header', name: 'a b' }, { kind: 'query', name: 'a&b' }),
  );
  refuses(READ, 'needs_key.name', { url_template: 'https://api.example.com/?k=1', needs_key: { kind: 'query', name: 'k' } });
});

test('SERVERACTION-8: with auth none the action may only read; what changes data needs auth user', () => {
  refuses(WRITE, 'auth', { auth: 'none' }, { auth: undefined }, { auth: undefined, risk: 'destructive' });
  refuses(WRITE, 'auth', ...['PUT', 'PATCH', 'DELETE'].map((method) => ({ method, auth: undefined })));
  accepts(READ, { method: 'POST', body_template: '{"q":"{{param.id}}"}' }, { auth: 'user' }, { needs_key: { kind: 'bearer' } });
  accepts(WRITE, { method: 'DELETE', risk: 'destructive' }, { method: 'PUT' });
});

test('SERVERACTION-8: PUT, PATCH and DELETE change data, so the person is asked first', () => {
  for (const method of ['PUT', 'PATCH', 'DELETE']) refuses(WRITE, 'risk', { method, risk: 'read' }, { method, risk: undefined });
});

test('SERVERACTION-9: a shared key does not go where the token goes', () => {
  const bearer = { needs_key: { kind: 'bearer' } };
  refuses(WRITE, 'auth_name', bearer, { ...bearer, auth_name: 'header:Authorization' }, { ...bearer, auth_name: 'header:AUTHORIZATION' });
  accepts(WRITE, { ...bearer, auth_name: 'header:X-User-Token' }, { ...bearer, auth_name: 'cookie:session' });
  const header = (name: string) => ({ needs_key: { kind: 'header', name } });
  refuses(WRITE, 'needs_key.name', header('Authorization'), header('authorization'), { ...header('x-token'), auth_name: 'header:X-Token' });
  accepts(
    WRITE,
    header('X-Api-Key'),
    { ...header('Authorization'), auth_name: 'header:X-Token' },
    { ...header('X-Token'), auth_name: 'query:X-Token' },
  );
  const query = (name: string) => ({ needs_key: { kind: 'query', name } });
  refuses(WRITE, 'needs_key.name', { ...query('t'), auth_name: 'query:t' });
  accepts(WRITE, query('t'), { ...query('t'), auth_name: 'query:u' });
});

test('SERVERACTION-4: parameters that a template marks, each once, in their order', () => {
  assert.deepEqual(templateParams('https://a.example/{{param.b}}/{{param.a}}?x={{param.b}}{c}'), ['b', 'a']);
  assert.deepEqual(templateParams('{}'), []);
});
