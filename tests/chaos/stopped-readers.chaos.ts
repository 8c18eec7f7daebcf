/**
 * A thousand readers that ask for endless answers and take not one byte of them: what they cost the process, and when they are let go.
 *
 * READERS=300 for fewer; PIECE=escaped for an answer of six bytes a character, PIECE_CHARS for smaller pieces than 8 KB. Over loopback the kernel takes megabytes for each of them
 * before anybody can tell that they have stopped; as over a network it is with frames of 1,500 bytes:
 * `unshare -n sh -c 'ip link set lo mtu 1500 up; node … dist/tests/chaos/stopped-readers.chaos.js'`.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient, createTestApp, HANDSHAKE, type TestApp } from '../support/client.ts';
import { readMetrics, residentBytes } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';
import { EVERYTHING } from './endless-model.ts';

const MB = 1024 * 1024;
const READERS = Number(process.env.READERS ?? 1_000);
/** An open stream that is read takes some 24 KB, with its connection to the model. */
const GROWTH_MAX_BYTES = 96 * MB;
/** From the last opening. Who takes nothing for 10 s is dropped. */
const CLOSED_WITHIN_MS = 15_000;
/** The heap reaches its working size with these, whoever reads them; only then is growth somebody's doing. */
const READ_ANSWERS = 3;
const OPENED_AT_ONCE = 20;
const OPENED_WITHIN_MS = 60_000;
const AGAIN_MS = 500;
const LOOK_MS = 250;
const LOOKS_MAX = 800;
/** So much of the turns that nobody reads any more is looked at, too. */
const UNREAD_MS = 20_000;

async function modelUrl(t: { after(fn: () => void): void }): Promise<string> {
  const child = fork(fileURLToPath(new URL('./endless-model.js', import.meta.url)), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(child, 'message')) as [string];
  return url;
}

/** Sends the message, reads what its answer begins with and nothing more. Undefined when it was refused. */
async function begin({ baseUrl }: RunningService, { liveKey }: TestApp): Promise<Socket | undefined> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  const body = JSON.stringify({ turn_id: randomUUID(), client: HANDSHAKE, message: { text: EVERYTHING } });
  const head = [
    'POST /v1/chat HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-Service-Key: ${liveKey}`,
    `X-Service-Device: ${randomUUID().replaceAll('-', '')}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  if (first.toString('latin1').startsWith('HTTP/1.1 200')) return socket;
  socket.destroy();
  return undefined;
}

test(`SAFE-6: ${READERS} clients that read nothing of 10 MB cost the process under 96 MB, and each is dropped within 15 s`, async (t) => {
  const service = await startService(t, {
    env: {
      OPENAI_BASE_URL: `${await modelUrl(t)}/v1`,
      MODEL: 'scripted',
      DEMO: 'off',
      LOG_LEVEL: 'warn',
      MODEL_PRICES: '{"scripted":{"input":1,"output":2}}',
    },
    mayStall: 'what it does under attack is measured here',
  });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentBytes(service.pid));
  }, 20);
  t.after(() => clearInterval(sampler));
  const client = () => createClient(service.baseUrl, app.liveKey, randomUUID().replaceAll('-', ''));
  for (let n = 0; n < READ_ANSWERS; n++) await client().say(EVERYTHING);
  for (let n = 0; n < READERS; n += OPENED_AT_ONCE) await Promise.all(Array.from({ length: OPENED_AT_ONCE }, () => client().say('Hello?')));
  const baseline = peak;
  const beganMs = performance.now();
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  // All at once they would be refused: nobody may open more streams than can be opened.
  const endMs = beganMs + OPENED_WITHIN_MS;
  const openNext = async () => {
    while (sockets.length < READERS && performance.now() < endMs) {
      const socket = await begin(service, app).catch(() => undefined);
      if (socket === undefined) await pause(AGAIN_MS);
      else sockets.push(socket);
    }
  };
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openNext));
  const openedMs = performance.now() - beganMs;
  let closedAfterMs = 0;
  let most = 0;
  let active = 0;
  for (let look = 0; look < LOOKS_MAX; look++) {
    await pause(LOOK_MS);
    const metrics = await readMetrics(service.baseUrl);
    const open = metrics.get('gateway_open_streams') ?? 0;
    active = metrics.get('assistant_conversations_active') ?? 0;
    const mb = (name: string) => Math.round((metrics.get(name) ?? 0) / MB);
    most = Math.max(most, open);
    if (open > 0) closedAfterMs = performance.now() - beganMs;
    if (look % 8 === 0)
      console.error(
        `${Math.round((performance.now() - beganMs) / 1000)} s: ${open} open, ${active} turns, ${Math.round(residentBytes(service.pid) / MB)} MB; heap ${mb('nodejs_heap_size_used_bytes')} of ${mb('nodejs_heap_size_total_bytes')}, external ${mb('nodejs_external_memory_bytes')}, writes ${metrics.get('storage_writes_outstanding')}`,
      );
    if (open === 0 && (active === 0 || performance.now() - beganMs > closedAfterMs + UNREAD_MS)) break;
  }
  clearInterval(sampler);
  const grew = Math.round((peak - baseline) / MB);
  t.diagnostic(
    `${most} streams at most, opened within ${(openedMs / 1000).toFixed(1)} s; the last was closed after ${(closedAfterMs / 1000).toFixed(1)} s, ${active} turns went on ${((performance.now() - beganMs - closedAfterMs) / 1000).toFixed()} s later; grew by ${grew} MB over ${Math.round(baseline / MB)} MB`,
  );
  assert.ok(sockets.length >= READERS, `only ${sockets.length} readers were let in`);
  assert.ok(closedAfterMs - openedMs < CLOSED_WITHIN_MS, 'all are dropped');
  assert.ok(peak - baseline < GROWTH_MAX_BYTES, `grew by ${grew} MB`);
});
