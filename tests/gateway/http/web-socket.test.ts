/** Sockets that only speak, at a real server and with real clients. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'undici';
import { uWS } from '../../../gateway/http/driver.ts';
import { registerSpeakingSockets, type Speaker, type SpeakingSockets } from '../../../gateway/http/web-socket.ts';
import { eventually } from '../../support/eventually.ts';

interface Serving {
  readonly port: number;
  readonly sockets: SpeakingSockets;
  readonly faults: unknown[];
}

async function serveSpeaker(t: TestContext, speaker: () => Speaker, stuckMs = 10_000): Promise<Serving> {
  const app = uWS.App();
  const faults: unknown[] = [];
  const sockets = registerSpeakingSockets(app, {
    path: '/speak',
    trustProxy: undefined,
    admit: speaker,
    refuse: (res) => res.writeStatus('429 Too Many Requests').end(),
    failed: (error) => faults.push(error),
    times: { lookMs: 5, stuckMs },
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uWS.us_socket_local_port(socket as never)));
  });
  t.after(() => app.close());
  return { port, sockets, faults };
}

/** A socket that said its upgrade and reads nothing more. */
async function deafClient(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const head = ['GET /speak HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
  socket.write(`${[...head, `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`].join('\r\n')}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  return socket;
}

const closed = (socket: WebSocket) =>
  new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code), { once: true }));

test('INSPECT-5: a client that takes nothing is dropped, and nothing is read for it while something waits', async (t) => {
  let reads = 0;
  let lastReadAtMs = 0;
  const text = 'x'.repeat(64 * 1_024);
  const next = () => {
    reads += 1;
    lastReadAtMs = performance.now();
    return [text];
  };
  const { port, sockets } = await serveSpeaker(t, () => ({ next }), 300);
  await deafClient(t, port);
  assert.equal(sockets.count, 1);
  // The system's own buffers take some megabytes first.
  await eventually(() => sockets.count === 0);
  assert.ok(performance.now() - lastReadAtMs >= 300, 'nothing was read while it was stuck');
  assert.ok(reads > 1);
});

test('INSPECT-5: at most 16 are served; a long message ends its socket; one that failed or is over ends by itself', async (t) => {
  const { port, faults } = await serveSpeaker(t, () => ({ next: () => [] }));
  const all = Array.from({ length: 16 }, () => new WebSocket(`ws://127.0.0.1:${port}/speak`));
  t.after(() => {
    for (const socket of all) socket.close();
  });
  await Promise.all(all.map((socket) => new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))));
  const further = new WebSocket(`ws://127.0.0.1:${port}/speak`);
  await new Promise((resolve) => further.addEventListener('error', resolve, { once: true }));
  const [first] = all;
  assert.ok(first);
  first.send('short');
  first.send('y'.repeat(1_025));
  assert.notEqual(await closed(first), 1000);
  assert.deepEqual(faults, []);
  const over = await serveSpeaker(t, () => ({ next: () => null }));
  assert.equal(await closed(new WebSocket(`ws://127.0.0.1:${over.port}/speak`)), 1000);
  const broken = await serveSpeaker(t, () => ({
    next: () => {
      throw new Error('no such file');
    },
  }));
  assert.equal(await closed(new WebSocket(`ws://127.0.0.1:${broken.port}/speak`)), 1011);
  assert.equal(broken.faults.length, 1);
});

test('INSPECT-6: at the end clients are told to go elsewhere', async (t) => {
  const { port, sockets } = await serveSpeaker(t, () => ({ next: () => ['hello'] }));
  const socket = new WebSocket(`ws://127.0.0.1:${port}/speak`);
  await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
  const code = closed(socket);
  sockets.end();
  assert.equal(await code, 1001);
});
