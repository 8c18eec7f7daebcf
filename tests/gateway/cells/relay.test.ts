import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { after, beforeEach, type TestContext, test } from 'node:test';
import * as v from 'valibot';
import type { FrameSource } from '../../../actors/frame-source.ts';
import { json, type Route, runtimeRoute } from '../../../gateway/route.ts';
import { eventually } from '../../support/eventually.ts';
import { assertRefused, createWorld, DEVICE, send, standIn, type World } from './cells-world.ts';
import { NumberedSource, rawClient, standsStill, unchunked } from './numbered-source.ts';

function streamRoute(source: () => FrameSource): Route {
  return runtimeRoute('GET', '/v1/stream', {
    limits: [],
    handle: () => ({ kind: 'stream', source: Promise.resolve({ source: source(), fromSeq: 0 }) }),
  });
}

const echoRoute = runtimeRoute('POST', '/v1/echo', {
  limits: [],
  body: v.object({ text: v.string() }),
  bodyMaxBytes: 1024 * 1024,
  handle: ({ body, query, clientAddress, header, caller }) =>
    json({ ...body, query: query.get('q'), clientAddress, host: header('host'), org: caller.organisationId }, 201),
});

const uploadRoute = runtimeRoute('POST', '/v1/upload', {
  limits: [],
  upload: { field: 'file', maxBytes: 24 * 1024 * 1024 },
  handle: ({ upload }) => json({ bytes: upload.bytes.length, sha256: createHash('sha256').update(upload.bytes).digest('hex') }),
});

const LARGE = randomBytes(6 * 1024 * 1024);
const largeRoute = runtimeRoute('GET', '/v1/large', {
  limits: [],
  handle: () => ({ kind: 'bytes', status: 200, body: LARGE, headers: { 'Content-Type': 'application/octet-stream' } }),
});

const noneRoute = runtimeRoute('GET', '/v1/none', { limits: [], handle: () => ({ kind: 'empty', status: 304, headers: { ETag: '"1"' } }) });

/** What GET /v1/stream answers with; each test brings its own. */
let source = new NumberedSource(0);
const routes = [streamRoute(() => source), echoRoute, uploadRoute, largeRoute, noneRoute];
// As far as cells ask, a file of tests has what a test has.
const world: World = createWorld({ after } as unknown as TestContext);
const [here, there] = await Promise.all([world.cell('a', routes), world.cell('b', routes)]);
const app = await world.place(there);

beforeEach(async () => {
  world.clock.nowMs += 1;
  await world.introduce([here, there]);
});

test('CELL-2: a stream through another cell is the same, byte by byte, with its headers once and one request id in both logs', async () => {
  source = new NumberedSource(400);
  source.go();
  const headers = { ...app.headers, Origin: 'https://shop.example', 'X-Request-Id': 'req-one' };
  const direct = await send(there.base, 'GET', '/v1/stream', headers);
  const through = await send(here.base, 'GET', '/v1/stream', headers);
  assert.equal(through.bytes.toString(), direct.bytes.toString());
  assert.match(through.bytes.toString(), /id: 399\n/);
  const names = (told: typeof direct) => told.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  assert.deepEqual(names(through).sort(), names(direct).sort());
  assert.deepEqual({ ...through.headers, date: '' }, { ...direct.headers, date: '' });
  const ids = [here, there].map(({ lines }) => lines.find((line) => line.request_id === 'req-one')?.msg);
  assert.deepEqual(ids, ['relaying a request to another cell', 'received a request from another cell']);
});

test('CELL-2: each event passes at once, not when a buffer is full', async () => {
  source = new NumberedSource(1_000_000);
  const request = http.get(`${here.base}/v1/stream`, { headers: app.headers, agent: false });
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  answer.on('data', (chunk) => {
    text += chunk;
  });
  answer.on('error', () => {});
  for (let seq = 1; seq <= 20; seq++) {
    source.go(seq);
    await eventually(() => text.includes(`id: ${seq - 1}\n`));
  }
  request.destroy();
});

test('CELL-3: a client that leaves ends the request to the other cell', async () => {
  source = new NumberedSource(10);
  const request = http.get(`${here.base}/v1/stream`, { headers: app.headers, agent: false });
  request.on('error', () => {});
  await once(request, 'response');
  await eventually(() => source.readers === 1);
  request.destroy();
  await eventually(() => source.readers === 0 && there.openStreams() === 0);
});

test('CELL-3: a slow client holds the other cell up, not memory, and gets every byte in the end', async () => {
  source = new NumberedSource(20_000, 'w'.repeat(2_000));
  const socket = rawClient(here.port, '/v1/stream', app.headers);
  await eventually(() => source.readers === 1);
  source.go();
  await standsStill(() => source.readChars);
  assert.ok(source.readChars < 24_000_000, `${source.readChars} of 41 million characters were read for a client that reads nothing`);
  const heldBytes = process.memoryUsage().arrayBuffers;
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    // Slowly at first: many small writes of a socket that is nearly full.
    if (chunks.length >= 50) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.resume();
  await eventually(() => chunks.length > 0 && (chunks.at(-1) as Buffer).subarray(-5).toString() === '0\r\n\r\n');
  socket.destroy();
  // Comments are between frames: the other cell asks with them whether its reader goes on.
  const frames = unchunked(Buffer.concat(chunks))
    .replace(/^:[^\n]*\n/gm, '')
    .trimStart();
  let expected = '';
  for (let seq = 0; seq < 20_000; seq++) expected += source.frame(seq);
  assert.ok(frames === expected, `${frames.length} characters came, ${expected.length} were sent`);
  assert.ok(heldBytes < 64 * 1024 * 1024, `${heldBytes} bytes were held meanwhile`);
});

test('CELL-2: a large answer keeps its length and its bytes, also for a client that reads late', async () => {
  const socket = rawClient(here.port, '/v1/large', app.headers);
  // It has come, and is not read yet.
  await once(socket, 'readable');
  const chunks: Buffer[] = [];
  let bytes = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
  });
  socket.resume();
  await eventually(() => bytes > LARGE.length);
  const wire = Buffer.concat(chunks);
  const head = wire.subarray(0, wire.indexOf('\r\n\r\n')).toString();
  assert.match(head, new RegExp(`content-length: ${LARGE.length}`, 'i'));
  assert.ok(wire.subarray(head.length + 4).equals(LARGE));
  // The connection goes on.
  socket.write(`GET /v1/none HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${app.key}\r\n\r\n`);
  const [next] = (await once(socket, 'data')) as [Buffer];
  assert.match(next.toString(), /^HTTP\/1\.1 304 .*etag: "1"/is);
  socket.destroy();
});

test('CELL-2, CELL-5: method, path, query, body and the client itself reach the other cell; forged words of a cell do not', async () => {
  const forged = { 'X-Service-Cell-Client': '9.9.9.9', 'X-Service-Cell-Host': 'evil.example', Host: 'api.example' };
  const told = await send(here.base, 'POST', '/v1/echo?q=a%20b', { ...app.headers, ...forged }, { text: 'héllo' });
  const { clientAddress, ...rest } = told.json;
  assert.deepEqual([told.status, rest], [201, { text: 'héllo', query: 'a b', host: 'api.example', org: app.organisationId }]);
  assert.match(String(clientAddress), /^127\.0\.0\.1$/);
  const direct = await send(there.base, 'POST', '/v1/echo', { ...app.headers, ...forged }, { text: '' });
  assert.equal(direct.json.clientAddress, clientAddress);
  assertRefused(await send(here.base, 'POST', '/v1/echo', app.headers, '{"text":'), 400, 'invalid_request', /Content-Type/);
});

test('CELL-2: an upload of 20 MB passes through; one that the other cell refuses is refused as there', async () => {
  const upload = async (file: Buffer) => {
    const boundary = 'b'.repeat(20);
    const start = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(start), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    return send(here.base, 'POST', '/v1/upload', { ...app.headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` }, body);
  };
  const file = randomBytes(20 * 1024 * 1024);
  const taken = await upload(file);
  assert.deepEqual(taken.json, { bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') });
  const large = JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) });
  const headers = { ...app.headers, 'Content-Type': 'application/json' };
  assertRefused(await send(here.base, 'POST', '/v1/echo', headers, large), 413, 'payload_too_large', /1048576 bytes/);
});

test('CELL-3: a cell that reads slowly holds the client up, not memory, and gets every byte in the end', async (t) => {
  let read = () => {};
  const url = await standIn(
    t,
    (request, answer) => {
      read = async () => {
        const hash = createHash('sha256');
        for await (const chunk of request) hash.update(chunk as Buffer);
        answer.end(hash.digest('hex'));
      };
    },
    world.masterKey,
  );
  assert.equal((await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' })).status, 201);
  world.clock.nowMs += 1;
  await world.introduce([here], { b: url });
  const body = randomBytes(40 * 1024 * 1024);
  const request = http.request(`${here.base}/v1/upload`, { method: 'POST', agent: false, headers: app.headers });
  let taken = 0;
  Readable.from(Array.from({ length: 640 }, (_, at) => body.subarray(at * 65_536, (at + 1) * 65_536)))
    .on('data', ({ length }) => {
      taken += length;
    })
    .pipe(request);
  await standsStill(() => taken);
  assert.ok(taken < 24 * 1024 * 1024, `${taken} bytes of 40 MB left the client`);
  read();
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const [hash] = (await once(answer, 'data')) as [Buffer];
  assert.equal(hash.toString(), createHash('sha256').update(body).digest('hex'));
});

test('CELL-2: headers of one connection end there, in both directions, and all others pass', async (t) => {
  let got: http.IncomingHttpHeaders = {};
  const url = await standIn(
    t,
    (request, answer) => {
      got = request.headers;
      request.resume();
      answer.writeHead(200, {
        Connection: 'X-Mine',
        'X-Mine': '1',
        'Keep-Alive': 'timeout=5',
        'Set-Cookie': ['a=1', 'b=2'],
        'X-Request-Id': 'of-the-other',
        Vary: 'Of-The-Other',
        'X-Kept': 'yes',
      });
      answer.end('{"ok":true}');
    },
    world.masterKey,
  );
  // By now cell a knows whose the key is, and does not ask the stand-in.
  assert.equal((await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' })).status, 201);
  world.clock.nowMs += 1;
  await world.introduce([here], { b: url });
  const told = await send(
    here.base,
    'POST',
    '/v1/echo',
    {
      ...app.headers,
      Connection: 'close, X-Hop',
      'X-Hop': '1',
      TE: 'trailers',
      'Keep-Alive': 'timeout=1',
      Expect: '',
      'X-Service-Cell-Organisation': 'org_forged',
      'X-Request-Id': 'mine',
      'X-Custom': 'kept',
      Cookie: 'c=1',
      Authorization: 'Bearer of-the-client',
    },
    { text: '' },
  );
  for (const gone of ['x-hop', 'te', 'keep-alive', 'expect']) assert.equal(got[gone], undefined, gone);
  assert.equal(got.connection, 'keep-alive');
  assert.deepEqual(
    [got['x-custom'], got.cookie, got.authorization, got['x-request-id'], got['x-service-device']],
    ['kept', 'c=1', 'Bearer of-the-client', 'mine', DEVICE],
  );
  assert.deepEqual([got['x-service-cell-organisation'], got['x-service-cell-relay']], [app.organisationId, 'a b']);
  assert.deepEqual([told.json, told.headers['set-cookie'], told.headers['x-kept']], [{ ok: true }, ['a=1', 'b=2'], 'yes']);
  assert.deepEqual([told.headers['x-mine'], told.headers['keep-alive'], told.headers['x-request-id']], [undefined, undefined, 'mine']);
  assert.equal(told.rawHeaders.filter((name) => name.toLowerCase() === 'vary').length, 1);
});

test('CELL-4: a cell that cannot be reached is 503 with Retry-After; one that breaks off breaks the answer off', async (t) => {
  assert.equal((await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' })).status, 201);
  const half = await standIn(
    t,
    (request, answer) => {
      request.resume();
      answer.writeHead(200, { 'Content-Length': '100' });
      answer.write('half of it');
      setImmediate(() => answer.destroy());
    },
    world.masterKey,
  );
  world.clock.nowMs += 1;
  await world.introduce([here], { b: half });
  await assert.rejects(send(here.base, 'POST', '/v1/echo', app.headers, { text: '' }), /aborted|hang up/);
  world.clock.nowMs += 1;
  // Nobody listens there.
  await world.introduce([here], { b: 'http://127.0.0.1:1' });
  const told = await send(here.base, 'POST', '/v1/echo', { ...app.headers, Origin: 'https://shop.example' }, { text: '' });
  assertRefused(told, 503, 'internal', /cell b cannot be reached/);
  assert.deepEqual([told.headers['retry-after'], told.headers['access-control-allow-origin']], ['2', 'https://shop.example']);
});

test('CELL-4: a cell that is silent is asked whether it is there; if not, those that wait are 503, and so are others until it is', async (t) => {
  let relayed = 0;
  const mute = await standIn(t, (request) => {
    if (request.url !== '/v1/none') relayed += request.url === '/v1/echo' ? 1 : 0;
    // One that breaks off is why it is asked; else it would be asked after 10 s.
    else request.socket.destroy();
  });
  world.clock.nowMs += 1;
  await world.introduce([here], { b: mute });
  const waiting = Array.from({ length: 3 }, () => send(here.base, 'POST', '/v1/echo', app.headers, { text: '' }));
  await eventually(() => relayed === 3);
  assertRefused(await send(here.base, 'GET', '/v1/none', app.headers), 503, 'internal', /cannot be reached/);
  for (const told of await Promise.all(waiting)) assertRefused(told, 503, 'internal', /cell b cannot be reached/);
  assertRefused(await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' }), 503, 'internal', /cannot be reached/);
  assert.equal(relayed, 3, 'a cell that is away is left alone');
  world.clock.nowMs += 1;
  await world.introduce([here, there]);
  await eventually(async () => (await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' })).status === 201);
});

test('CELL-5: an answer without the proof of a cell reaches no client, nor does one with the proof of another request', async (t) => {
  let proof = '';
  const forger = await standIn(t, (request, answer) => {
    request.resume();
    if (proof !== '') answer.setHeader('x-service-cell-proof', proof);
    answer.end('{"forged":true}');
  });
  world.clock.nowMs += 1;
  await world.introduce([here], { b: forger });
  for (const said of ['', here.cells.client.proofs.answer('of another request', 200)]) {
    proof = said;
    assertRefused(await send(here.base, 'POST', '/v1/echo', app.headers, { text: '' }), 503, 'internal', /cell b cannot be reached/);
  }
});

test('CELL-2: more headers than the other cell can read with those of a cell are 431 at once, and a host in other letters passes', async () => {
  const many = Object.fromEntries(Array.from({ length: 85 }, (_, n) => [`X-Line-${n}`, 'x']));
  assertRefused(await send(here.base, 'GET', '/v1/none', { ...app.headers, ...many }), 431, 'invalid_request', /more headers/);
  assertRefused(
    await send(here.base, 'GET', '/v1/none', { ...app.headers, 'X-Long': 'x'.repeat(13_000) }),
    431,
    'invalid_request',
    /longer/,
  );
  const few = Object.fromEntries(Object.entries(many).slice(0, 60));
  assert.equal((await send(here.base, 'GET', '/v1/none', { ...app.headers, ...few })).status, 304);
  assert.equal((await send(here.base, 'GET', '/v1/none', { ...app.headers, Host: 'a\u00e9b' })).status, 304);
});

test('CELL-2: bytes that a client did not escape, and a control character in a header, pass as they do here', async () => {
  const ask = async ({ port }: { port: number }) => {
    const socket = connect(port, '127.0.0.1');
    const body = JSON.stringify({ text: 'x' });
    const lines = [...Object.entries(app.headers), ['X-Note', 'a\x7fb']].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(
      `POST /v1/echo?q=grün HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${lines}\r\n${body}`,
    );
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
      if (answer.includes('"org"')) socket.destroy();
    });
    await once(socket, 'close');
    return { status: answer.slice(9, 12), query: /"query":"[^"]*"/.exec(answer)?.[0] };
  };
  assert.deepEqual(await ask(there), { status: '201', query: '"query":"grün"' });
  assert.deepEqual(await ask(here), await ask(there));
});
