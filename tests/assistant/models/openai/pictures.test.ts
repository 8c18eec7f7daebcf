/** Pictures on their way to the upstream, read piece by piece, within a budget. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ImagePart } from '../../../../assistant/models/model.ts';
import { createOpenAiModel } from '../../../../assistant/models/openai/openai.ts';
import { SendingBudget } from '../../../../assistant/models/stream/sending-budget.ts';
import { eventually } from '../../../support/eventually.ts';
import { picture, RecordedSink, request } from './recorded-sink.ts';

const ANSWER = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'A cat.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

function answer(res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.end(ANSWER);
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function fixture(t: TestContext, serve: (req: IncomingMessage, res: ServerResponse) => void, waitMaxMs = 10_000) {
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sending = new SendingBudget({ deviceMaxBytes: 1_000, waitMaxMs });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = createOpenAiModel({ baseUrl, model: 'm', sending });
  t.after(async () => {
    await model.close();
    server.closeAllConnections();
    server.close();
  });
  const show = (image: ImagePart) => {
    const sink = new RecordedSink();
    return { sink, run: model.stream(request({ messages: [{ role: 'user', content: 'What is it?', images: [image] }] }), sink) };
  };
  return { sending, show };
}

test('MODEL-19: a picture of many pieces arrives whole, with the length that was announced', async (t) => {
  const bytes = Buffer.alloc(3_000_000, 'picture');
  let announced = 0;
  let body = '';
  const { sending, show } = await fixture(t, async (req, res) => {
    announced = Number(req.headers['content-length']);
    body = await bodyOf(req);
    answer(res);
  });
  const { sink } = show(picture('image/png', bytes));
  assert.equal(((await sink.ended) as { reason: string }).reason, 'stop');
  assert.equal(Buffer.byteLength(body), announced);
  assert.equal(JSON.parse(body).messages.at(-1).content[1].image_url.url, `data:image/png;base64,${bytes.toString('base64')}`);
  assert.equal(sending.bytes, 0);
});

test('MODEL-19: what waits for room is not read; it is sent when the one before it is through', async (t) => {
  const waiting: (() => void)[] = [];
  const { sending, show } = await fixture(t, async (req, res) => {
    if (waiting.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    await bodyOf(req);
    answer(res);
  });
  let read = 0;
  // More than sockets take in before somebody reads them.
  const first = show(picture('image/png', Buffer.alloc(30_000_000)));
  const second = show(
    picture('image/png', Buffer.alloc(10), 10, () => {
      read += 1;
    }),
  );
  await eventually(() => waiting.length !== 0);
  assert.deepEqual([read, sending.waiting], [0, 1]);
  waiting[0]?.();
  await first.sink.ended;
  await second.sink.ended;
  assert.equal(second.sink.spoken, 'A cat.');
  assert.deepEqual([read, sending.bytes, sending.waiting], [1, 0, 0]);
});

test('MODEL-19: a round that is ended while its pictures wait or are sent leaves the budget, and its file is closed', async (t) => {
  let opened = 0;
  let closed = 0;
  const endless: ImagePart = {
    mediaType: 'image/png',
    bytes: 50_000_000,
    async *pieces() {
      opened += 1;
      try {
        for (;;) yield Buffer.alloc(100_000);
      } finally {
        closed += 1;
      }
    },
  };
  const { sending, show } = await fixture(t, (req) => void req.resume());
  const [sent, waits] = [show(endless), show(picture('image/png', Buffer.alloc(10)))];
  await eventually(() => sending.waiting === 1 && opened === 1);
  waits.run.abort();
  assert.equal(sending.waiting, 0);
  sent.run.abort();
  assert.equal(sending.bytes, 0);
  await eventually(() => closed === 1);
});

test('MODEL-19: no room in time is `busy`, as an upstream says it; a picture that cannot be read breaks the round off', async (t) => {
  const { sending, show } = await fixture(t, (req) => void req.resume(), 1);
  const held = show(picture('image/png', Buffer.alloc(30_000_000), 1_000));
  const busy = await show(picture('image/png', Buffer.alloc(10))).sink.ended;
  assert.deepEqual(busy, { kind: 'busy', detail: 'too many pictures are being sent at once', isOurs: true });
  held.run.abort();
  const lost: ImagePart = {
    mediaType: 'image/png',
    bytes: 10,
    // biome-ignore lint/correctness/useYield: what cannot be read has no pieces.
    async *pieces() {
      throw new Error('gone');
    },
  };
  assert.equal(((await show(lost).sink.ended) as { kind: string }).kind, 'broken');
  assert.equal(sending.bytes, 0);
});
