/** A slow client is the only one who pays for being slow. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { ANSWER_TEXT_MAX_CHARS } from '../../protocol/limits.ts';
import { createTestApp, DEVICE, HANDSHAKE } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { follow } from '../support/partial.ts';
import { readMetrics, residentBytes } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { type Play, startUpstream, upstreamEnv } from '../support/upstream.ts';

const MB = 1024 * 1024;
const PIECE_CHARS = 8 * 1024;
const PIECES = (10 * MB) / PIECE_CHARS;
const READERS = 8;
const GROWTH_MAX_BYTES = 64 * MB;
/** The heap reaches its working size with the second such answer, whoever reads it; only then is growth somebody's doing. */
const WARM_UPS = 2;
/** Who takes nothing for 10 s is dropped; the timers of sockets are up to 4 s coarse. */
const PATIENCE_MIN_MS = 6_000;
const DROPPED_WITHIN_MS = 40_000;

/** Six bytes each in JSON, so that a million of them are more than the network itself buffers. */
const PIECE = '\u0001'.repeat(PIECE_CHARS);

function* pieces(count: number): Generator<Play> {
  for (let n = 0; n < count; n++) yield { text: PIECE };
}

/** Sends the message and reads not one byte of the answer. */
async function sendAndIgnore(baseUrl: string, key: string, deviceId: string, body: unknown): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  await once(socket, 'connect');
  const json = JSON.stringify(body);
  const head = [
    'POST /v1/chat HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-Service-Key: ${key}`,
    `X-Service-Device: ${deviceId}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${json}`);
  return socket;
}

/** Everything that arrives until the connection is gone. */
async function drained(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return text;
}

test('SAFE-6: 8 clients that read nothing, each asking for 10 MB, cost the process under 64 MB; they are dropped, their turns are stored to the bound of an answer', async (t) => {
  const upstream = await startUpstream(t, () => [...pieces(PIECES)]);
  const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentBytes(service.pid));
  }, 20);
  t.after(() => clearInterval(sampler));
  // The same to a client that reads: what is measured is what slow ones add to that, not what a long answer leaves to the collector.
  for (let n = 0; n < WARM_UPS; n++) {
    const warmUp = { turn_id: randomUUID(), message: { text: 'Warm up' } };
    assert.ok(await follow(service.baseUrl, app.liveKey, warmUp, () => {}));
  }
  const baseline = peak;
  const body = { client: HANDSHAKE, turn_id: randomUUID(), message: { text: 'Tell me everything' } };
  const sentAtMs = performance.now();
  const sockets: Socket[] = [];
  for (let n = 0; n < READERS; n++) {
    const own = n === 0 ? body : { ...body, turn_id: randomUUID() };
    const socket = await sendAndIgnore(service.baseUrl, app.liveKey, n === 0 ? DEVICE : String(n).padStart(32, 'd'), own);
    sockets.push(socket);
    t.after(() => socket.destroy());
  }
  let metrics = await readMetrics(service.baseUrl);
  const updated = async (isThere: () => boolean) => {
    metrics = await readMetrics(service.baseUrl);
    return isThere();
  };
  const shown = () => JSON.stringify([...metrics].filter(([name]) => /^(assistant|gateway_open)/.test(name)));
  await eventually(() => updated(() => (metrics.get('gateway_open_streams') ?? 0) > READERS / 2), DROPPED_WITHIN_MS, shown);
  await eventually(() => updated(() => metrics.get('gateway_open_streams') === 0), DROPPED_WITHIN_MS, shown);
  const droppedAfterMs = performance.now() - sentAtMs;
  await eventually(() => updated(() => metrics.get('assistant_conversations_active') === 0), DROPPED_WITHIN_MS, shown);
  clearInterval(sampler);
  t.diagnostic(
    `dropped after ${Math.round(droppedAfterMs)} ms; grew by ${Math.round((peak - baseline) / MB)} MB over ${Math.round(baseline / MB)} MB`,
  );
  assert.ok(droppedAfterMs >= PATIENCE_MIN_MS, `a client gets time to take something, more than ${droppedAfterMs} ms`);
  assert.ok(peak - baseline < GROWTH_MAX_BYTES, `grew by ${Math.round((peak - baseline) / MB)} MB`);
  const received = await drained(sockets[0] as Socket);
  assert.doesNotMatch(received, /event: turn\.end/);
  assert.ok(received.length < 6 * ANSWER_TEXT_MAX_CHARS, 'only what the network itself buffers was sent');

  let chars = 0;
  let end: unknown;
  const ended = await follow(service.baseUrl, app.liveKey, body, (event) => {
    if (event.type === 'block.delta') chars += String(event.text_delta).length;
    if (event.type === 'turn.end') end = [event.status, event.truncated];
  });
  assert.ok(ended);
  assert.deepEqual(end, ['completed', true]);
  assert.equal(chars, ANSWER_TEXT_MAX_CHARS);
  assert.equal(upstream.requests.length, WARM_UPS + READERS, 'the model is not asked twice');
});
