/** Requests that a connection sends ahead, answers that wait for a client that does not read, and answers of which the head alone is asked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { documentRoutes } from '../../../gateway/docs.ts';
import { defineRoute, json } from '../../../gateway/route.ts';
import { schemasRoute } from '../../../gateway/runtime/schemas.ts';
import { sdkRoutes } from '../../../gateway/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { projectRoot } from '../../support/project-root.ts';
import { serve } from '../test-server.ts';

const PICTURE = '/docs/images/console/conversation-dark.png';
/** Answers that leave within one tick of the event loop, and the one that is due when the next request ends the connection. */
const HANDLED_MAX = 64 + 1;
const GROWN_MAX_BYTES = 20 * 1024 * 1024;
/** More than the kernel keeps for a client on the same machine. */
const LARGE = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => `é${at}`).join(''));

const asked: string[] = [];
const counted = (path: string, body: Uint8Array | string) =>
  defineRoute({
    method: 'GET',
    path: `${path}/:id`,
    head: true,
    caller: 'anyone',
    handle({ params: { id = '' } }) {
      asked.push(id);
      const headers = { 'Content-Type': 'text/plain' };
      return typeof body === 'string' ? { kind: 'text', status: 200, body, headers } : { kind: 'bytes', status: 200, body, headers };
    },
  });
const later = defineRoute({
  method: 'GET',
  path: '/later/:id',
  caller: 'anyone',
  async handle({ params: { id = '' } }) {
    asked.push(id);
    await Promise.resolve();
    return json({ id });
  },
});
const numbered = defineRoute({ method: 'GET', path: '/numbered/:id', caller: 'anyone', handle: ({ params }) => json(params) });
const ROUTES = [
  ...documentRoutes,
  ...sdkRoutes,
  schemasRoute,
  numbered,
  later,
  counted('/bytes', LARGE),
  counted('/text', LARGE.toString()),
];

function request(path: string, more = '', method = 'GET'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
}

/** A connection that reads nothing until it is told to. */
function open(t: TestContext, port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(text);
  return socket;
}

/** What the server says, until `enough` says so or the connection ends. */
async function read(socket: Socket, enough: (said: Buffer) => boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Looking at everything that was said costs more than the rest of the test.
    if ((bytes < 1_000_000 || bytes >= LARGE.length) && enough(Buffer.concat(chunks))) break;
  }
  return Buffer.concat(chunks);
}

/** Answers that `/metrics` has counted, by the name of their route. */
async function answered(base: string, route: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('gateway_requests_total{') && line.includes(`route="${route}"`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

for (const [name, path, route] of [
  ['pictures of the documents', PICTURE, 'GET /docs/images/console/:name'],
  ['the web SDK', '/sdk/web/latest/assistant.js', 'GET /sdk/web/:version/:file'],
  ['the schemas', '/v1/schemas', 'GET /v1/schemas'],
  ['refused paths', '/nothing', 'unknown'],
] as const) {
  test(`HTTP-27: thousands of requests for ${name} of a connection that reads nothing take little, and others are served`, async (t) => {
    const { base, port } = await serve(t, ROUTES);
    await fetch(base + path);
    const before = process.memoryUsage().rss;
    const sockets = Array.from({ length: 4 }, () => open(t, port, request(path).repeat(1_500)));
    await eventually(async () => (await answered(base, route)) > 4);
    const grown = process.memoryUsage().rss - before;
    // The service ends all four: what they asked for beyond the bound is never handled.
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    assert.ok((await answered(base, route)) <= 1 + 4 * HANDLED_MAX);
    assert.ok(grown < GROWN_MAX_BYTES, `${grown} bytes`);
  });
}

test('HTTP-27: requests that are sent ahead are answered in their order, and the connection serves on', async (t) => {
  const { port } = await serve(t, ROUTES);
  const ids = Array.from({ length: 40 }, (_, at) => `n${at}`);
  const socket = open(t, port, ids.map((id) => request(`/numbered/${id}`)).join(''));
  for (const round of [ids, ids.slice(7)]) {
    const last = `{"id":"${round.at(-1)}"}`;
    const said = (await read(socket, (all) => all.includes(last))).toString();
    assert.deepEqual(
      Array.from(said.matchAll(/"id":"(n\d+)"/g), ([, id]) => id),
      round,
    );
    if (round === ids)
      socket.write(
        ids
          .slice(7)
          .map((id) => request(`/numbered/${id}`))
          .join(''),
      );
  }
  socket.write(request(PICTURE).repeat(3) + request('/numbered/last'));
  const pictures = await read(socket, (all) => all.includes('"last"'));
  assert.equal(pictures.toString('latin1').split('\x89PNG').length - 1, 3);
});

test('HTTP-27: answers that are made later, within the tick of their request, have the same bound, and metrics are made once for all of them', async (t) => {
  const { port } = await serve(t, ROUTES);
  for (const path of ['/later/a', '/metrics']) {
    const said = await read(open(t, port, request(path).repeat(2_000)), () => false);
    const answers = said.toString().split('HTTP/1.1 200 OK').length - 1;
    assert.ok(answers <= HANDLED_MAX, `${path}: ${answers}`);
  }
  assert.ok(asked.length <= HANDLED_MAX);
  asked.length = 0;
});

for (const path of ['/bytes', '/text']) {
  test(`HTTP-27: a long answer (${path}) arrives whole at a client that began to read late, and its connection serves on`, async (t) => {
    const { base, port } = await serve(t, ROUTES);
    const socket = open(t, port, request(`${path}/a`));
    await eventually(() => asked.includes('a'));
    await fetch(`${base}/healthz`);
    const said = await read(socket, (all) => all.length > LARGE.length);
    const head = said.indexOf('\r\n\r\n');
    assert.match(said.subarray(0, head).toString(), new RegExp(`Content-Length: ${LARGE.length}`));
    assert.ok(said.subarray(head + 4).equals(LARGE), 'every byte in its place');
    socket.write(request('/numbered/next'));
    assert.match((await read(socket, (all) => all.includes('"next"'))).toString(), /200 OK/);
    asked.length = 0;
  });
}

test('HTTP-27: a client that leaves before its answer is whole holds up no drain', async (t) => {
  const { port, drain } = await serve(t, ROUTES);
  const socket = open(t, port, request('/bytes/left'));
  await eventually(() => asked.includes('left'));
  let drained = false;
  const ended = drain(30_000).then(() => {
    drained = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(drained, false, 'a drain waits for an answer on its way');
  socket.destroy();
  await ended;
});

test('HTTP-27: while the service drains, an answer asks its client to close the connection', async (t) => {
  const { port, drain } = await serve(t, ROUTES);
  const waiting = open(t, port, request('/bytes/kept'));
  const socket = open(t, port, request('/numbered/first'));
  assert.doesNotMatch((await read(socket, (all) => all.includes('"first"'))).toString(), /Connection/);
  await eventually(() => asked.includes('kept'));
  const ended = drain(30_000);
  socket.write(request('/numbered/last'));
  assert.match((await read(socket, (all) => all.includes('"last"'))).toString(), /Connection: close\r\n/);
  waiting.destroy();
  await ended;
});

test('HTTP-28, RUN-10, RUN-11, RUN-31: HEAD is answered as GET on health, metrics and files: with its length and without its body', async (t) => {
  const { base, port } = await serve(t, ROUTES);
  for (const path of ['/healthz', '/readyz', '/metrics', '/docs/runtime.md', PICTURE, '/sdk/web/latest/assistant.js', '/v1/schemas']) {
    // As it is: a file is compressed beside the first answers, and each form has a tag of its own.
    const headers = { 'Accept-Encoding': 'identity' };
    const [head, get] = [await fetch(base + path, { method: 'HEAD', headers }), await fetch(base + path, { headers })];
    assert.equal(`${head.status} ${await head.text()}`, '200 ', path);
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'), path);
    if (path !== '/metrics') assert.equal(head.headers.get('etag'), get.headers.get('etag'), path);
  }
  // A client that took the body for the next answer would lose its place.
  const socket = open(t, port, request('/bytes/x', '', 'HEAD').repeat(3) + request('/numbered/behind'));
  const said = (await read(socket, (all) => all.includes('"behind"'))).toString();
  assert.equal(said.split(`Content-Length: ${LARGE.length}\r\n\r\nHTTP/1.1 200 OK`).length - 1, 3);
});

test('HTTP-13, HTTP-28: a path that takes HEAD says so, others refuse it without a body', async (t) => {
  const { base } = await serve(t, ROUTES);
  assert.equal((await fetch(`${base}/healthz`, { method: 'PUT' })).headers.get('allow'), 'GET, HEAD');
  const refused = await fetch(`${base}/numbered/1`, { method: 'HEAD' });
  assert.deepEqual([refused.status, refused.headers.get('allow'), await refused.text()], [405, 'GET', '']);
});

test('HTTP-27: after a thousand answers of 304 some are sent whole, so that a connection that reads nothing waits for one', async (t) => {
  const headers = { 200: { 'X-Is': 'whole' }, 304: {} };
  const handle = () => ({ kind: 'tagged', isUnchanged: true, body: 'what it has', headers }) as const;
  const { port } = await serve(t, [numbered, defineRoute({ method: 'GET', path: '/kept', caller: 'anyone', handle })]);
  const socket = open(t, port, '');
  const whole: number[] = [];
  for (let round = 0; round < 75; round += 1) {
    socket.write(request('/kept').repeat(40) + request(`/numbered/${round}`));
    const said = (await read(socket, (all) => all.includes(`"id":"${round}"`))).toString();
    whole.push(said.split('X-Is: whole').length - 1);
  }
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  assert.equal(sum(whole.slice(0, 24)), 0);
  // Of 2,000 one in 64 is 31; that it is none happens once in 10^13 runs.
  assert.ok(sum(whole.slice(25)) > 0 && sum(whole) < 200, String(whole));
});

test('HTTP-29: HTTP/1.0 is refused in the words that operations.md quotes, so that a search for them finds what is missing', async (t) => {
  const { port } = await serve(t, ROUTES);
  const socket = open(t, port, 'GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n');
  const said = (await read(socket, () => false)).toString();
  assert.match(said, /^HTTP\/1\.1 505 /);
  const page = readFileSync(join(projectRoot(), 'docs/operations.md'), 'utf8');
  const words = Array.from(said.slice(said.indexOf('\r\n\r\n')).matchAll(/>([^<>]+)</g), ([, text = '']) => text.trim());
  assert.deepEqual(
    words.filter((text) => text !== '' && !page.includes(`\`${text}\``)),
    [],
  );
  assert.equal(words.length, 3);
  assert.match(page, /proxy_http_version 1\.1;/);
});

test('LIMIT-38, RUN-31: a document has a tag and is compressed once; one that a client has costs its address nothing', async (t) => {
  const { base, port } = await serve(t, ROUTES);
  const path = '/docs/runtime.md';
  const encoded = async () => (await fetch(base + path, { headers: { 'Accept-Encoding': 'br' } })).headers.get('content-encoding') === 'br';
  await eventually(encoded);
  const socket = open(t, port, '');
  let said = '';
  // 6,000 in all, each round in a tick of its own.
  for (let round = 0; round < 180; round += 1) {
    socket.write(request('/docs/runtime.md', 'Accept-Encoding: br\r\n', 'HEAD').repeat(40) + request(`/numbered/${round}`));
    said = (await read(socket, (all) => all.includes(`"id":"${round}"`))).toString();
  }
  assert.match(said, /HTTP\/1\.1 429 [\s\S]*Retry-After: 1\r\n/);
  // Many at once, because a slow machine gives some tokens back meanwhile.
  const statuses = (headers: Record<string, string>) =>
    Promise.all(Array.from({ length: 40 }, async () => (await fetch(base + path, { headers })).status));
  assert.ok((await statuses({})).includes(429));
  // Of many one in 64 is sent whole all the same (HTTP-27), and that is not counted either.
  const has = await statuses({ 'If-None-Match': '*' });
  assert.deepEqual(
    has.filter((status) => status !== 304 && status !== 200),
    [],
  );
  assert.ok(has.includes(304));
});
