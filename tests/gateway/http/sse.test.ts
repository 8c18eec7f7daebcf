import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FrameSource } from '../../../actors/frame-source.ts';
import { defineRoute, type StreamPosition } from '../../../gateway/route.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { renderEvent } from '../../../protocol/runtime/stream-events.ts';
import { eventually } from '../../support/eventually.ts';
import { serve } from '../test-server.ts';

/** Frames as they are pushed; says how far it was read. */
class ScriptedSource implements FrameSource {
  readonly frames: string[] = [];
  over = false;
  readChars = 0;
  subscribers = 0;
  #wake: (() => void) | undefined;

  push(...frames: string[]): void {
    this.frames.push(...frames);
    this.#wake?.();
  }

  end(): void {
    this.over = true;
    this.#wake?.();
  }

  read(seq: number, maxChars: number) {
    let text = '';
    let nextSeq = seq;
    while (nextSeq < this.frames.length && (text === '' || text.length + (this.frames[nextSeq] ?? '').length <= maxChars)) {
      text += this.frames[nextSeq];
      nextSeq += 1;
    }
    this.readChars += text.length;
    return { text, nextSeq, ended: this.over && nextSeq === this.frames.length };
  }

  subscribe(wake: () => void) {
    this.subscribers += 1;
    this.#wake = wake;
    return () => {
      this.subscribers -= 1;
      this.#wake = undefined;
    };
  }
}

function streaming(source: () => Promise<StreamPosition>) {
  return defineRoute({
    method: 'GET',
    path: '/v1/stream',
    caller: 'anyone',
    handle: () => ({ kind: 'stream', source: source() }),
  });
}

const delta = (seq: number, text: string) => renderEvent(seq, { type: 'block.delta', index: 0, text_delta: text });

/** A client that reads nothing until told to. */
function rawClient(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.write('GET /v1/stream HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

test('STREAM-2: the stream opens at once with its headers, sends frames as they come and ends after the last', async (t) => {
  const source = new ScriptedSource();
  let position: (at: StreamPosition) => void = () => {};
  const pending = new Promise<StreamPosition>((resolve) => {
    position = resolve;
  });
  const { base, openStreams } = await serve(t, [streaming(() => pending)]);
  const response = await fetch(`${base}/v1/stream`, { headers: { 'X-Request-Id': 'r1', origin: 'https://a.example' } });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  assert.equal(response.headers.get('cache-control'), 'no-cache, no-transform');
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  assert.equal(response.headers.get('x-request-id'), 'r1');
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://a.example');
  assert.equal(openStreams(), 1);
  source.push('skipped', delta(1, 'a'));
  position({ source, fromSeq: 1 });
  await eventually(() => source.subscribers === 1);
  source.push(delta(2, 'b'));
  source.end();
  assert.equal(await response.text(), `: open\n\n${delta(1, 'a')}${delta(2, 'b')}`);
  // Told once a tick.
  await eventually(() => openStreams() === 0);
  assert.equal(source.subscribers, 0);
});

test('STREAM-11: a refusal of the source is error then turn.end in the stream; a bug is internal and logged', async (t) => {
  let reason: Error = new Refusal('quota_exceeded', 'The sandbox is used up.');
  const { base, logged } = await serve(t, [streaming(() => Promise.reject(reason))]);
  const refused = await (await fetch(`${base}/v1/stream`)).text();
  const end = renderEvent(1, { type: 'turn.end', status: 'error' });
  const error = renderEvent(0, { type: 'error', code: 'quota_exceeded', message: 'The sandbox is used up.', retryable: false });
  assert.equal(refused, `: open\n\n${error}${end}`);
  assert.equal(logged.length, 0);
  reason = new Error('secret detail');
  const broken = await (await fetch(`${base}/v1/stream`)).text();
  assert.match(broken, /"code":"internal"/);
  assert.match(broken, /"retryable":true/);
  assert.ok(!broken.includes('secret'));
  assert.equal(logged.length, 1);
});

test('STREAM-5: until its first frame a stream says with pings that it is alive', async (t) => {
  const source = new ScriptedSource();
  const { base } = await serve(t, [streaming(() => Promise.resolve({ source, fromSeq: 0 }))], {}, { waitingMs: 20, sweepMs: 5 });
  const response = await fetch(`${base}/v1/stream`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  // Without an id: who comes back with Last-Event-ID has not seen the turn's first event.
  const ping = 'event: ping\ndata: {"type":"ping","v":1,"seq":0}\n\n';
  while (!seen.includes(`\n\n${ping}${ping}`)) seen += (await reader?.read())?.value ?? '';
  source.push(delta(0, 'x'));
  source.end();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) seen += part.value;
  assert.ok(seen.endsWith(`${ping}${delta(0, 'x')}`));
});

test('STREAM-20: a client that leaves is unsubscribed at once', async (t) => {
  const source = new ScriptedSource();
  const { port, openStreams } = await serve(t, [streaming(() => Promise.resolve({ source, fromSeq: 0 }))]);
  const socket = rawClient(port);
  await eventually(() => source.subscribers === 1);
  socket.destroy();
  await eventually(() => source.subscribers === 0);
  assert.equal(openStreams(), 0);
  source.push(delta(0, 'late'));
  assert.equal(source.readChars, 0);
});

test('STREAM-20: a source that fails half-way cuts its stream, is logged, and nobody else notices', async (t) => {
  const source = new ScriptedSource();
  source.push(delta(0, 'a'));
  const { base, logged, openStreams } = await serve(t, [streaming(() => Promise.resolve({ source, fromSeq: 0 }))]);
  const response = await fetch(`${base}/v1/stream`);
  await eventually(() => source.readChars > 0);
  source.read = () => {
    throw new Error('broken');
  };
  source.push('');
  await assert.rejects(response.text());
  assert.equal(logged.length, 1);
  assert.equal(openStreams(), 0);
  assert.equal((await fetch(`${base}/healthz`)).status, 200);
});

const MEGABYTE = 1024 * 1024;
/** uWebSockets ends a connection that takes nothing after 10 s or more: what is not sooner was its doing. */
const DRIVER_IDLE_MS = 9_000;
const frame = delta(0, 'x'.repeat(1_000));

/** 50 MB that are never in memory at once. */
function endlessSource(totalBytes: number) {
  const frames = Math.ceil(totalBytes / frame.length);
  const state = { read: 0, subscribers: 0 };
  const source: FrameSource = {
    read(seq, maxChars) {
      const count = Math.min(Math.max(1, Math.floor(maxChars / frame.length)), frames - seq);
      state.read += count * frame.length;
      return { text: frame.repeat(count), nextSeq: seq + count, ended: seq + count === frames };
    },
    subscribe() {
      state.subscribers += 1;
      return () => {
        state.subscribers -= 1;
      };
    },
  };
  return { source, state, frames };
}

test('STREAM-17, STREAM-18: a reader that takes nothing is dropped after the stuck time, and no more was read than its socket took', async (t) => {
  const { source, state } = endlessSource(50 * MEGABYTE);
  const times = { stuckMs: 300, sweepMs: 20 };
  const { port, openStreams } = await serve(t, [streaming(() => Promise.resolve({ source, fromSeq: 0 }))], {}, times);
  const socket = rawClient(port);
  socket.on('error', () => {});
  await eventually(() => state.subscribers === 1);
  await eventually(() => openStreams() === 0, DRIVER_IDLE_MS);
  assert.equal(state.subscribers, 0);
  // What the kernel buffers for a loopback connection is some megabytes at most.
  assert.ok(state.read < 16 * MEGABYTE, `read ${state.read}`);
  socket.destroy();
});

test('STREAM-18: a stream is dropped whose answer has come late for as long, because too much else is told, and not before it was open for as long', async (t) => {
  const source = new ScriptedSource();
  const lateMs = { value: 0 };
  let looks = 0;
  const late: FrameSource = {
    read: (seq, maxChars) => source.read(seq, maxChars),
    subscribe: (wake) => source.subscribe(wake),
    lateMs() {
      looks += 1;
      return lateMs.value;
    },
  };
  const { port, openStreams } = await serve(
    t,
    [streaming(() => Promise.resolve({ source: late, fromSeq: 0 }))],
    {},
    { stuckMs: 300, sweepMs: 20 },
  );
  const socket = rawClient(port);
  socket.resume();
  socket.on('error', () => {});
  await eventually(() => source.subscribers === 1);
  source.push(delta(0, 'It is read.'));
  lateMs.value = 299;
  const before = looks;
  await eventually(() => looks > before + 5);
  assert.equal(openStreams(), 1);
  lateMs.value = 300;
  await eventually(() => openStreams() === 0);
  assert.equal(source.subscribers, 0);
});

test('STREAM-17: a slow reader that goes on reading gets all 50 MB, in order, and the server is never far ahead of it', async (t) => {
  const { source, state, frames } = endlessSource(50 * MEGABYTE);
  const times = { stuckMs: 60_000, sweepMs: 20 };
  const { base, openStreams } = await serve(t, [streaming(() => Promise.resolve({ source, fromSeq: 0 }))], {}, times);
  let received = 0;
  let ahead = 0;
  const response = await fetch(`${base}/v1/stream`);
  let rest = '';
  let seen = 0;
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += part.length;
    ahead = Math.max(ahead, state.read - received);
    const lines = (rest + part).split('\n\n');
    rest = lines.pop() ?? '';
    for (const event of lines) {
      const line = event.replaceAll(/^(?::\n)+/g, '');
      if (line === ': open') continue;
      assert.equal(`${line}\n\n`, frame);
      seen += 1;
    }
    if (seen % 64 === 0) await nextTick();
  }
  assert.equal(seen, frames);
  assert.ok(ahead < 16 * MEGABYTE, `${ahead} ahead of the reader`);
  await eventually(() => openStreams() === 0);
});
