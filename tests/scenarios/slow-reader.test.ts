/** service.md "Hot path": a slow client is the only one who pays for being slow. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createTestApp, DEVICE, HANDSHAKE } from '../support/client.ts';
import { follow } from '../support/partial.ts';
import { eventually, readMetrics, residentBytes } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { type Play, startUpstream, upstreamEnv } from '../support/upstream.ts';

const MB = 1024 * 1024;
const PIECE_CHARS = 8 * 1024;
const PIECES = (50 * MB) / PIECE_CHARS;
const GROWTH_MAX_BYTES = 64 * MB;
/** The heap reaches its working size with the second such answer, whoever reads it; only then is growth somebody's doing. */
const WARM_UPS = 2;
/** Who takes nothing for 10 s is dropped; the timers of sockets are up to 4 s coarse. */
const PATIENCE_MIN_MS = 6_000;
const DROPPED_WITHIN_MS = 40_000;

/** No blanks in it: what is said comes back character for character. */
function piece(n: number): string {
  return n
    .toString(36)
    .padStart(8, '0')
    .repeat(PIECE_CHARS / 8);
}

function* pieces(count: number): Generator<Play> {
  for (let n = 0; n < count; n++) yield { text: piece(n) };
}

/** Sends the message and reads not one byte of the answer. */
async function sendAndIgnore(baseUrl: string, key: string, body: unknown): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  await once(socket, 'connect');
  const json = JSON.stringify(body);
  const head = [
    'POST /v1/chat HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-Service-Key: ${key}`,
    `X-Service-Device: ${DEVICE}`,
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

test('Hot path: 50 MB to a client that reads nothing cost the process under 64 MB more than to one that reads; the client is dropped, its turn is stored whole', async (t) => {
  const upstream = await startUpstream(t, () => [...pieces(PIECES)]);
  const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentBytes(service.pid));
  }, 20);
  t.after(() => clearInterval(sampler));
  // The same to a client that reads: what is measured is what a slow one adds to that, not what 50 MB leave to the collector.
  for (let n = 0; n < WARM_UPS; n++) {
    const warmUp = { turn_id: randomUUID(), message: { text: 'Warm up' } };
    assert.ok(await follow(service.baseUrl, app.liveKey, warmUp, () => {}));
  }
  const baseline = peak;
  const body = { client: HANDSHAKE, turn_id: randomUUID(), message: { text: 'Tell me everything' } };
  const sentAtMs = performance.now();
  const socket = await sendAndIgnore(service.baseUrl, app.liveKey, body);
  t.after(() => socket.destroy());
  let metrics = await readMetrics(service.baseUrl);
  const updated = async (isThere: () => boolean) => {
    metrics = await readMetrics(service.baseUrl);
    return isThere();
  };
  const shown = () => JSON.stringify([...metrics].filter(([name]) => /^(assistant|gateway_open)/.test(name)));
  await eventually(() => updated(() => metrics.get('gateway_open_streams') === 1), DROPPED_WITHIN_MS, shown);
  await eventually(() => updated(() => metrics.get('gateway_open_streams') === 0), DROPPED_WITHIN_MS, shown);
  const droppedAfterMs = performance.now() - sentAtMs;
  await eventually(() => updated(() => metrics.get('assistant_conversations_active') === 0), DROPPED_WITHIN_MS, shown);
  clearInterval(sampler);
  t.diagnostic(
    `dropped after ${Math.round(droppedAfterMs)} ms; grew by ${Math.round((peak - baseline) / MB)} MB over ${Math.round(baseline / MB)} MB`,
  );
  assert.ok(droppedAfterMs >= PATIENCE_MIN_MS, `a client gets time to take something, more than ${droppedAfterMs} ms`);
  assert.ok(peak - baseline < GROWTH_MAX_BYTES, `grew by ${Math.round((peak - baseline) / MB)} MB`);
  const received = await drained(socket);
  assert.doesNotMatch(received, /event: turn\.end/);
  assert.ok(received.length < 20 * MB, 'only what the network itself buffers was sent');

  const told = createHash('sha256');
  let chars = 0;
  let status: unknown;
  const ended = await follow(service.baseUrl, app.liveKey, body, (event) => {
    if (event.type === 'block.delta') {
      told.update(String(event.text_delta));
      chars += String(event.text_delta).length;
    }
    if (event.type === 'turn.end') status = event.status;
  });
  const meant = createHash('sha256');
  for (let n = 0; n < PIECES; n++) meant.update(piece(n));
  assert.ok(ended);
  assert.equal(status, 'completed');
  assert.equal(chars, PIECES * PIECE_CHARS);
  assert.equal(told.digest('hex'), meant.digest('hex'));
  assert.equal(upstream.requests.length, WARM_UPS + 1, 'the model is not asked twice');
});
