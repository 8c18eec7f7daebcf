import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type AddressGuard, createAddressGuard } from '../../../assistant/http/address-guard.ts';
import { type CallOutcome, createHttpActionCaller } from '../../../assistant/http-action/call.ts';
import { type ActionRequest, renderRequest } from '../../../assistant/http-action/request.ts';
import { HTTP_ACTION_ANSWER_MAX_BYTES } from '../../../protocol/limits.ts';
import { eventually } from '../../support/eventually.ts';
import { OPEN_GUARD, startSite } from '../knowledge/link-site.ts';
import { climbs, fuzzedAction, meaning, meantBody, meantQuery } from './fuzzed-actions.ts';

const OPTIONS = { timeoutMs: 10_000, maxBytes: 64 * 1024 };
const caller = createHttpActionCaller({ guard: OPEN_GUARD });

function requestTo(url: string, more: Partial<ActionRequest> = {}): ActionRequest {
  return { method: 'GET', url: new URL(url), headers: { accept: 'application/json' }, body: undefined, ...more };
}

const call = (url: string, more: Partial<ActionRequest> = {}, options: Partial<typeof OPTIONS> = {}) =>
  caller.call(requestTo(url, more), { ...OPTIONS, ...options });

/** Expects this outcome, with a sentence that tells nothing of the machine, the address or the request. */
function assertReason(outcome: CallOutcome, kind: 'failed' | 'unknown', reason: RegExp): void {
  assert.ok(outcome.kind === kind, JSON.stringify(outcome));
  assert.match(outcome.reason, reason);
  assert.match(outcome.reason, /^[A-Z].*\.$/s);
  assert.doesNotMatch(outcome.reason, /127\.0\.0\.1|localhost|secret|ECONN|UND_ERR|undici/);
  assert.equal(/Whether the action was carried out is not known\.$/.test(outcome.reason), kind === 'unknown');
}

/** An endpoint that speaks in bytes: what it does with each connection once a whole request head has come. */
async function rawEndpoint(
  t: TestContext,
  answer: (socket: Socket) => void,
): Promise<{ url: string; heads: string[]; connections: () => number }> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    let head = '';
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      heads.push(head);
      head = '';
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?secret=1`, heads, connections: () => connections };
}

test('CALL-1: an endpoint receives what was meant, for some hundred fuzzed templates', async (t) => {
  const all: { url: string; headers: Record<string, unknown>; body: string }[] = [];
  const site = await startSite(t, (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      all.push({ url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString('utf8') });
      res.end('{}');
    });
  });
  const host = new URL(site.url).host;
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(fuzzedAction(site.url), async (action) => {
      const rendered = renderRequest(action.definition, action.params, {
        invocationId: 'inv_1',
        userToken: 'tok',
        sharedKey: 'key',
        receipt: 'r.r.r',
      });
      if (!rendered.ok || climbs(action)) return;
      sent++;
      assert.deepEqual(await caller.call(rendered.request, OPTIONS), { kind: 'ok', status: 200, body: '{}' });
      const received = all.at(-1) ?? assert.fail();
      assert.equal(all.length, sent);
      const [path = '', query = ''] = received.url.split('?');
      const meant = action.plan.path.map((parts) => meaning(parts, action.params));
      assert.deepEqual(path.split('/').slice(1).map(decodeURIComponent), meant.length === 0 ? [''] : meant);
      const pairs = [...new URLSearchParams(query)].filter(([, value]) => value !== 'tok' && value !== 'key');
      assert.deepEqual(pairs, meantQuery(action));
      assert.deepEqual(received.body === '' ? null : JSON.parse(received.body), meantBody(action));
      const { connection, 'content-length': length, ...headers } = received.headers;
      assert.deepEqual(headers, { host, ...rendered.request.headers });
      assert.deepEqual([connection, Number(length)], ['close', Buffer.byteLength(received.body)]);
    }),
    { numRuns: 300 },
  );
  assert.ok(sent > 100, `${sent} were sent`);
  assert.equal(site.requests.length, sent);
});

test('CALL-6: an answer below 300 is a success, whatever it holds', async (t) => {
  const bodies: Record<string, (string | Buffer | undefined)[]> = {
    '/json': ['application/json', '{"a":1}'],
    '/text': ['text/plain', 'All fine'],
    '/html': ['text/html', '<p>é</p>'],
    '/none': [undefined, ''],
  };
  const site = await startSite(t, (req, res) => {
    const [type, body] = bodies[req.url ?? ''] ?? [];
    res.writeHead(req.url === '/none' ? 204 : 201, type === undefined ? {} : { 'Content-Type': String(type) }).end(body);
  });
  for (const [path, [, body]] of Object.entries(bodies)) {
    assert.deepEqual(await call(`${site.url}${path}`), { kind: 'ok', status: path === '/none' ? 204 : 201, body });
  }
  await eventually(async () => (await site.openSockets()) === 0);
});

test('CALL-7: gzip, deflate and br are read; another encoding and broken bytes leave the outcome unknown', async (t) => {
  const plain = Buffer.from(JSON.stringify({ words: 'word '.repeat(2_000) }));
  const answers: Record<string, [string, Buffer]> = {
    '/gzip': ['gzip', gzipSync(plain)],
    '/deflate': ['deflate', deflateSync(plain)],
    '/br': ['br', brotliCompressSync(plain)],
    '/upper': ['GZIP', gzipSync(plain)],
    '/empty': ['gzip', Buffer.alloc(0)],
    '/zstd': ['zstd', plain],
    '/cut': ['gzip', gzipSync(plain).subarray(0, 30)],
    '/lie': ['br', plain],
  };
  const site = await startSite(t, (req, res) => {
    const [encoding, bytes] = answers[req.url ?? ''] ?? ['', plain];
    res.writeHead(200, { 'Content-Encoding': encoding }).end(bytes);
  });
  for (const path of ['/gzip', '/deflate', '/br', '/upper']) {
    assert.deepEqual(await call(`${site.url}${path}`), { kind: 'ok', status: 200, body: plain.toString() }, path);
  }
  assert.deepEqual(await call(`${site.url}/empty`), { kind: 'ok', status: 200, body: '' });
  assertReason(await call(`${site.url}/zstd`), 'unknown', /compresses its answer in a way that was not asked for/);
  assertReason(await call(`${site.url}/cut`), 'unknown', /compressed in a way that could not be read/);
  assertReason(await call(`${site.url}/lie`), 'unknown', /compressed in a way that could not be read/);
});

test('CALL-7: more than the limit is not read: declared, streamed, or grown from a small compressed body', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const site = await startSite(t, (req, res) => {
    if (req.url === '/declared') res.writeHead(200, { 'Content-Length': 10_000_000 }).flushHeaders();
    else if (req.url === '/bomb') res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
    else if (req.url === '/exact') res.end('x'.repeat(OPTIONS.maxBytes));
    else res.end('x'.repeat(OPTIONS.maxBytes + 1));
  });
  assert.ok(bomb.length < HTTP_ACTION_ANSWER_MAX_BYTES);
  assert.equal((await call(`${site.url}/exact`)).kind, 'ok');
  for (const path of ['/declared', '/bomb', '/long']) assertReason(await call(`${site.url}${path}`), 'unknown', /larger than 64 KB/);
  const before = process.memoryUsage().arrayBuffers;
  assertReason(await call(`${site.url}/bomb`, {}, { maxBytes: HTTP_ACTION_ANSWER_MAX_BYTES }), 'unknown', /larger than 1024 KB/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
  await eventually(async () => (await site.openSockets()) === 0);
});

test('CALL-6: a redirect is not followed and fails, and so does every status of 400 and above, with its body', async (t) => {
  const site = await startSite(t, (req, res) => {
    const status = Number((req.url ?? '').slice(1));
    res.writeHead(status, { Location: '/200' }).end(status === 304 ? '' : `{"why":${status}}`);
  });
  for (const status of [301, 302, 303, 304, 307, 308]) {
    const outcome = await call(`${site.url}/${status}`);
    assertReason(outcome, 'failed', new RegExp(`redirect \\(status ${status}\\); redirects are not followed`));
    assert.deepEqual(outcome.kind === 'failed' && outcome.answer, { status, body: '' });
  }
  for (const status of [400, 401, 404, 429, 500, 503]) {
    const outcome = await call(`${site.url}/${status}`, { method: 'POST', body: '{}' });
    assertReason(outcome, 'failed', new RegExp(`answered with status ${status}\\.`));
    assert.deepEqual(outcome.kind === 'failed' && outcome.answer, { status, body: `{"why":${status}}` });
  }
  assert.equal(site.requests.length, 12);
});

test('CALL-6: a definite status stays one although its body breaks off', async (t) => {
  const { url } = await rawEndpoint(t, (socket) => socket.end('HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf'));
  const outcome = await call(url);
  assertReason(outcome, 'failed', /answered with status 500/);
  assert.deepEqual(outcome.kind === 'failed' && outcome.answer, { status: 500, body: '' });
});

test('CALL-7: the time is for everything: no head, a slow body, slow bytes of a head', async (t) => {
  const drip = (socket: Socket, bytes: string) => {
    const timer = setInterval(() => socket.write(bytes), 20);
    socket.on('close', () => clearInterval(timer));
  };
  const silent = await rawEndpoint(t, () => {});
  const body = await rawEndpoint(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    drip(socket, '1\r\nx\r\n');
  });
  const head = await rawEndpoint(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    drip(socket, 'x: y\r\n');
  });
  for (const { url, connections } of [silent, body, head]) {
    assertReason(await call(url, {}, { timeoutMs: 200 }), 'unknown', /did not answer completely within 1 seconds/);
    assert.equal(connections(), 1);
  }
});

test('CALL-4: a call is sent once, also when the endpoint closes without an answer, for every method', async (t) => {
  const behaviours: Record<string, (socket: Socket) => void> = {
    closed: (socket) => socket.end(),
    reset: (socket) => socket.resetAndDestroy(),
    'half a head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
    'half a body': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    'half a chunk': (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf'),
    'no HTTP': (socket) => socket.end('hello\r\n\r\n'),
    switched: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    'endless headers': (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`),
  };
  for (const [name, behaviour] of Object.entries(behaviours)) {
    const endpoint = await rawEndpoint(t, behaviour);
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
    for (const method of methods) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : '{"a":1}';
      assertReason(await call(endpoint.url, { method, body }), 'unknown', /./);
    }
    assert.deepEqual([endpoint.heads.length, endpoint.connections()], [methods.length, methods.length], name);
  }
});

test('CALL-4: a connection that breaks before the request is written is not replaced by another', async (t) => {
  const endpoint = await rawEndpoint(t, (socket) => socket.end());
  let opened = 0;
  const guard: AddressGuard = {
    ...OPEN_GUARD,
    connect: (options, callback) =>
      OPEN_GUARD.connect(options, (...result) => {
        opened += 1;
        result[1]?.destroy();
        callback(...result);
      }),
  };
  assertReason(await createHttpActionCaller({ guard }).call(requestTo(endpoint.url), { ...OPTIONS, timeoutMs: 1_000 }), 'unknown', /./);
  assert.deepEqual([opened, endpoint.heads.length], [1, 0]);
});

test('CALL-4: each call has a connection of its own, though the endpoint would keep it', async (t) => {
  const endpoint = await rawEndpoint(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}'),
  );
  for (let at = 0; at < 3; at++) assert.equal((await call(endpoint.url)).kind, 'ok');
  await Promise.all([call(endpoint.url), call(endpoint.url)]);
  assert.equal(endpoint.connections(), 5);
});

test('CALL-5: what was not sent has failed: refused, not found, no TLS, a private address', async (t) => {
  const { url, heads } = await rawEndpoint(t, (socket) => socket.end());
  const closedPort = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
  assertReason(await call(`http://127.0.0.1:${closedPort}/`), 'failed', /refused the connection/);
  assertReason(
    await call(url.replace('http:', 'https:'), {}, { timeoutMs: 2_000 }),
    'failed',
    /secure connection|connection to the endpoint failed|within/,
  );
  // It has no certificate to show.
  const secure = createTlsServer({}, () => assert.fail('no connection is made')).listen(0, '127.0.0.1');
  t.after(() => secure.close());
  await once(secure, 'listening');
  const securePort = (secure.address() as AddressInfo).port;
  assertReason(await call(`https://127.0.0.1:${securePort}/`), 'failed', /No secure connection to the endpoint could be made/);
  const strict = createHttpActionCaller({
    guard: createAddressGuard({ allowPrivate: false, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }),
  });
  assertReason(await strict.call(requestTo('https://api.shop.example/'), OPTIONS), 'failed', /leads to a loopback address/);
  assertReason(await strict.call(requestTo('https://10.0.0.1:8443/'), OPTIONS), 'failed', /leads to a private address/);
  assertReason(await strict.call(requestTo(url), OPTIONS), 'failed', /is not an https address/);
  const nowhere = createHttpActionCaller({
    guard: createAddressGuard({ allowPrivate: true, resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) }),
  });
  assertReason(await nowhere.call(requestTo('https://api.shop.example/'), OPTIONS), 'failed', /name of the endpoint could not be found/);
  assertReason(await nowhere.call(requestTo('http://api.shop.example/'), OPTIONS), 'failed', /is not an https address/);
  assert.equal(heads.filter((head) => head.startsWith('GET')).length, 0);
});

test('CALL-5: a name that is never found ends in time, as failed', async () => {
  const guard = createAddressGuard({ allowPrivate: false, resolve: () => new Promise(() => {}) });
  const outcome = await createHttpActionCaller({ guard }).call(requestTo('https://api.shop.example/'), { ...OPTIONS, timeoutMs: 100 });
  assertReason(outcome, 'failed', /did not answer completely within 1 seconds/);
});

test('CALL-5, CALL-7: the end of the caller, or of its signal, ends what is out as unknown and what comes as failed', async (t) => {
  const endpoint = await rawEndpoint(t, () => {});
  const own = createHttpActionCaller({ guard: OPEN_GUARD });
  const stop = new AbortController();
  const stopped = own.call(requestTo(endpoint.url), { ...OPTIONS, signal: stop.signal });
  await eventually(() => endpoint.heads.length === 1);
  stop.abort();
  assertReason(await stopped, 'unknown', /was stopped before the endpoint answered/);
  assertReason(await own.call(requestTo(endpoint.url), { ...OPTIONS, signal: stop.signal }), 'failed', /was stopped/);
  const out = own.call(requestTo(endpoint.url), OPTIONS);
  await eventually(() => endpoint.heads.length === 2);
  await own.close();
  assertReason(await out, 'unknown', /was stopped before the endpoint answered/);
  assertReason(await own.call(requestTo(endpoint.url), OPTIONS), 'failed', /was stopped/);
  assert.equal(endpoint.connections(), 2);
});
