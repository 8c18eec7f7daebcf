import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import * as v from 'valibot';
import { defineRoute, json } from '../../gateway/route.ts';
import { Refusal } from '../../protocol/errors.ts';
import { eventually } from '../support/eventually.ts';
import { servingNode } from '../support/node.ts';
import { FILE } from '../support/whole-file.ts';
import { serve } from './test-server.ts';

const echo = defineRoute({
  method: 'POST',
  path: '/v1/echo/:id',
  caller: 'anyone',
  body: v.object({ text: v.string('must be a string') }),
  bodyMaxBytes: 1_000,
  async handle({ body, params, query, header, clientAddress }) {
    await new Promise((resolve) => setImmediate(resolve));
    return json({ ...body, ...params, q: query.get('q'), x: header('x-thing'), clientAddress });
  },
});

const small = defineRoute({
  method: 'GET',
  path: '/v1/small/:id',
  caller: 'anyone',
  handle: ({ params, query, header }) => json({ ...params, q: query.get('q'), x: header('x-thing') }, 200, { 'X-More': '1' }),
});

const failing = defineRoute({
  method: 'GET',
  path: '/v1/failing/:how',
  caller: 'anyone',
  handle({ params }) {
    if (params.how === 'later') return Promise.reject(new Error('secret detail'));
    if (params.how === 'refusal') throw new Refusal('rate_limited', 'Slow down.', { retryAfterS: 7 });
    throw new Error('secret detail');
  },
});

const empty = defineRoute({
  method: 'DELETE',
  path: '/v1/small/:id',
  caller: 'anyone',
  handle: () => ({ kind: 'empty', status: 204 }),
});

const routes = [echo, small, failing, empty];
const post = (body: string | null, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
});

interface ErrorAnswer {
  error: { code: string; message: string; details?: unknown };
}

async function errorOf(response: Response): Promise<ErrorAnswer['error']> {
  return ((await response.json()) as ErrorAnswer).error;
}

const { base } = await serve(FILE, routes);

test('HTTP-1: a route gets its body, path, query, headers and address, also when it answers later', async () => {
  const response = await fetch(`${base}/v1/echo/a%20b?q=1%262`, post('{"text":"é"}', { 'X-Thing': 'y' }));
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { text: 'é', id: 'a b', q: '1&2', x: 'y', clientAddress: '127.0.0.1' });
  const now = await fetch(`${base}/v1/small/%zz?q=2`, { headers: { 'x-thing': 'z' } });
  assert.equal(now.headers.get('x-more'), '1');
  assert.deepEqual(await now.json(), { id: '%zz', q: '2', x: 'z' });
});

test('HTTP-13: an unknown path is 404 in the error body shape of its interface', async () => {
  for (const [path, code] of [
    ['/v1/nothing', 'invalid_request'],
    ['/console/api/nothing', 'not_found'],
    ['/', 'not_found'],
  ] as const) {
    const response = await fetch(base + path);
    assert.equal(response.status, 404);
    assert.equal((await errorOf(response)).code, code);
  }
});

test('HTTP-13: a known path with another method is 405 with Allow', async () => {
  const response = await fetch(`${base}/v1/small/1`, { method: 'PUT', body: 'x' });
  assert.equal(response.status, 405);
  assert.equal(response.headers.get('allow'), 'DELETE, GET');
  assert.equal((await errorOf(response)).code, 'method_not_allowed');
  const head = await fetch(`${base}/v1/small/1`, { method: 'HEAD' });
  assert.equal(head.status, 405);
  assert.equal(await head.text(), '');
});

test('HTTP-15: an empty answer has neither body nor type', async () => {
  const response = await fetch(`${base}/v1/small/1`, { method: 'DELETE' });
  assert.equal(response.status, 204);
  assert.equal(response.headers.get('content-type'), null);
  assert.equal((await fetch(`${base}/v1/small/1`)).status, 200);
});

test('HTTP-21: a preflight is answered without a key; a refusal can be read by any page', async () => {
  const origin = 'https://any.example';
  const preflight = await fetch(`${base}/v1/small/1`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin);
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'DELETE, GET, OPTIONS');
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /X-Service-Key/);
  assert.ok(Number(preflight.headers.get('access-control-max-age')) > 0);
  const refused = await fetch(`${base}/v1/failing/refusal`, { headers: { origin } });
  assert.equal(refused.headers.get('access-control-allow-origin'), origin);
  assert.equal(refused.headers.get('access-control-expose-headers'), 'X-Request-Id, ETag, Retry-After, X-Service-Warning');
  assert.match(refused.headers.get('vary') ?? '', /Origin/);
  assert.equal((await fetch(`${base}/v1/small/1`)).headers.get('access-control-allow-origin'), null);
});

test('HTTP-12, HTTP-14: a refusal carries its code, sentence and Retry-After; a bug shows as internal and is logged with its request id', async (t) => {
  const { base, logged } = await serve(t, routes);
  const refused = await fetch(`${base}/v1/failing/refusal`);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '7');
  assert.deepEqual(await errorOf(refused), { code: 'rate_limited', message: 'Slow down.' });
  assert.equal(logged.length, 0);
  for (const how of ['now', 'later']) {
    const response = await fetch(`${base}/v1/failing/${how}`, { headers: { 'X-Request-Id': `bug-${how}` } });
    assert.equal(response.status, 500);
    const text = await response.text();
    assert.equal((JSON.parse(text) as ErrorAnswer).error.code, 'internal');
    assert.ok(!text.includes('secret'));
  }
  assert.deepEqual(
    logged.map((line) => line.request_id),
    ['bug-now', 'bug-later'],
  );
});

test('HTTP-17: a client that leaves in the middle of its body or before its answer harms nobody', async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  const slow = defineRoute({
    method: 'GET',
    path: '/v1/slow',
    caller: 'anyone',
    async handle() {
      waiting += 1;
      await released;
      return json({});
    },
  });
  const { base, port, logged } = await serve(t, [...routes, slow]);
  const body = connect(port, '127.0.0.1');
  body.write('POST /v1/echo/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"text"');
  const pending = connect(port, '127.0.0.1');
  pending.write('GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => waiting === 1);
  body.destroy();
  pending.destroy();
  const counted = async () => (await (await fetch(`${base}/metrics`)).text()).includes('route="GET /v1/slow",status="499"} 1');
  await eventually(counted);
  release();
  assert.equal((await fetch(`${base}/v1/echo/1`, post('{"text":"fine"}'))).status, 200);
  assert.equal(logged.length, 0);
});

test('SAFE-8: /readyz says so when ALLOW_PRIVATE_ADDRESSES is on', async (t) => {
  const config = { publicUrl: undefined, operatorToken: undefined, allowPrivateAddresses: true };
  const node = servingNode();
  const { base } = await serve(t, routes, { config, node });
  assert.deepEqual(await (await fetch(`${base}/readyz`)).json(), { status: 'ready', allow_private_addresses: true });
  node.send({ type: 'drain' });
  assert.deepEqual(await (await fetch(`${base}/readyz`)).json(), { status: 'draining', allow_private_addresses: true });
});

test('RUN-11: no answer says what serves it', async () => {
  for (const path of ['/healthz', '/nowhere']) {
    const names = [...(await fetch(`${base}${path}`)).headers.keys()];
    assert.deepEqual(
      names.filter((name) => /uwebsockets|^server$|powered/.test(name)),
      [],
    );
  }
});

test('RUN-10, RUN-11: /healthz is up, /readyz is 503 while draining, /metrics counts by route and status, with times, and refusals by code', async (t) => {
  const node = servingNode();
  const { base } = await serve(t, routes, { node });
  assert.equal((await fetch(`${base}/healthz`)).status, 200);
  const ready = await fetch(`${base}/readyz`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }]);
  node.send({ type: 'drain' });
  assert.equal((await fetch(`${base}/readyz`)).status, 503);
  await fetch(`${base}/v1/small/1`);
  await fetch(`${base}/v1/failing/refusal`);
  const metrics = await fetch(`${base}/metrics`);
  assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await metrics.text();
  assert.match(text, /gateway_requests_total\{route="GET \/v1\/small\/:id",status="200"\} 1/);
  assert.match(text, /gateway_requests_total\{route="GET \/v1\/failing\/:how",status="429"\} 1/);
  for (const ending of ['_bucket{le="+Inf",', '_count{']) {
    assert.ok(text.includes(`\ngateway_request_seconds${ending}route="GET /v1/small/:id"} 1\n`), text);
  }
  assert.match(text, /gateway_refusals_total\{code="rate_limited"\} 1/);
  assert.match(text, /gateway_refusals_total\{code="internal"\} 0/);
  assert.match(text, /gateway_open_streams 0/);
  assert.match(text, /storage_commits_total 1/);
  assert.match(text, /process_cpu_seconds_total/);
});

test('RUN-5: a second server on the same address is told so', async (t) => {
  const { port } = await serve(t, routes);
  const { startServer } = await import('../../gateway/server.ts');
  await assert.rejects(
    startServer({ host: '127.0.0.1', port, routes: [], services: { nowMs: () => 0, config: {} } as never }),
    new RegExp(`127\\.0\\.0\\.1:${port}`),
  );
});

test('RUN-7: a drain answers what is under way, takes nothing new and ends', async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  const slow = defineRoute({
    method: 'GET',
    path: '/v1/slow',
    caller: 'anyone',
    async handle() {
      waiting += 1;
      await released;
      return json({ done: true });
    },
  });
  const { base, drain } = await serve(t, [slow]);
  const answer = fetch(`${base}/v1/slow`);
  await eventually(() => waiting === 1);
  const drained = drain(10_000);
  await assert.rejects(fetch(`${base}/healthz`));
  release();
  assert.deepEqual(await (await answer).json(), { done: true });
  await drained;
});
