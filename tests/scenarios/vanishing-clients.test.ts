/** A client that goes away does not stop its turn, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createClient, createTestApp, DEVICE, HANDSHAKE, parseEvents, spoken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { openDescriptors, readMetrics } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const CLIENTS = 1_000;
/** As many at once as the listening socket surely takes. */
const WAVE = 200;
/** Idle connections to the upstream live on for some seconds. */
const SETTLED_WITHIN_MS = 30_000;
/** Log, database and the test's own connections come and go. */
const DESCRIPTORS_SPARE = 20;

/** Opens a stream and waits for its first words. */
function openStream(baseUrl: string, key: string, turnId: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const json = JSON.stringify({ client: HANDSHAKE, turn_id: turnId, message: { text: 'Hello' } });
  const head = [
    'POST /v1/chat HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-Service-Key: ${key}`,
    `X-Service-Device: ${DEVICE}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let heard = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      heard += chunk;
      if (heard.includes('Half of')) resolve(socket);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed too early: ${heard}`)));
    socket.write(`${head.join('\r\n')}\r\n\r\n${json}`);
  });
}

test(`SAFE-6: ${CLIENTS} clients that vanish in mid-stream leave no actor, timer or socket behind, and their turns are stored`, async (t) => {
  let release = () => {};
  const wait = new Promise<void>((resolve) => {
    release = resolve;
  });
  const upstream = await startUpstream(t, () => [{ text: 'Half of ' }, { wait }, { text: 'the answer.' }]);
  const service = await startService(t, {
    env: { ...upstreamEnv(upstream), DEMO: 'off' },
    mayStall: 'a thousand clients come, and go, in one loop tick',
  });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  let metrics = await readMetrics(service.baseUrl);
  const value = (name: string) => {
    const held = metrics.get(name);
    assert.ok(held !== undefined, `${name} is told`);
    return held;
  };
  const timers = () => metrics.get('nodejs_active_resources{type="Timeout"}') ?? 0;
  const baseline = { descriptors: openDescriptors(service.pid), timers: timers() };
  const becomes = (expected: Readonly<Record<string, number>>) =>
    eventually(
      async () => {
        metrics = await readMetrics(service.baseUrl);
        return Object.entries(expected).every(([name, wanted]) => value(name) === wanted);
      },
      SETTLED_WITHIN_MS,
      () => JSON.stringify(Object.keys(expected).map((name) => [name, value(name)])),
    );

  const turnIds = Array.from({ length: CLIENTS }, () => randomUUID());
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => void socket.destroy()));
  for (let from = 0; from < CLIENTS; from += WAVE) {
    sockets.push(...(await Promise.all(turnIds.slice(from, from + WAVE).map((id) => openStream(service.baseUrl, app.liveKey, id)))));
  }
  const running = { assistant_conversations_active: CLIENTS, assistant_turns_running: CLIENTS };
  await becomes({ ...running, gateway_open_streams: CLIENTS, assistant_turn_readers: CLIENTS });
  // Idle connections of what was asked before may have been closed meanwhile.
  assert.ok(openDescriptors(service.pid) >= baseline.descriptors + 2 * CLIENTS - DESCRIPTORS_SPARE, 'every stream holds two sockets');

  for (const socket of sockets) socket.destroy();
  await becomes({ ...running, gateway_open_streams: 0, assistant_turn_readers: 0 });

  release();
  await becomes({ assistant_conversations_active: 0, assistant_turns_running: 0, assistant_turns_waiting: 0, gateway_open_streams: 0 });
  await eventually(
    async () => {
      metrics = await readMetrics(service.baseUrl);
      return openDescriptors(service.pid) <= baseline.descriptors + DESCRIPTORS_SPARE && timers() <= baseline.timers + 1;
    },
    SETTLED_WITHIN_MS,
    () => `${openDescriptors(service.pid)} descriptors, ${timers()} timers; before: ${JSON.stringify(baseline)}`,
  );

  const client = createClient(service.baseUrl, app.liveKey);
  for (const turnId of turnIds) {
    const events = parseEvents((await client.send('GET', `/v1/chat/${turnId}`)).text);
    assert.equal(spoken(events), 'Half of the answer.');
    assert.equal(events.at(-1)?.status, 'completed');
  }
  assert.equal(upstream.requests.length, CLIENTS);
});
