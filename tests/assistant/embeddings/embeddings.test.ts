/** The way to an embeddings server, over HTTP. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import {
  BATCH_CHARS_MAX,
  BATCH_TEXTS_MAX,
  createEmbedder,
  DIMENSIONS_MAX,
  type Embedder,
  type EmbedderOptions,
  EmbeddingError,
} from '../../../assistant/embeddings/embeddings.ts';
import { base64Of, type EmbeddingsServer, sendError, sendVectors, startEmbeddingsServer } from '../../support/embeddings-server.ts';

async function open(t: TestContext, more: Partial<EmbedderOptions> = {}): Promise<{ server: EmbeddingsServer; embedder: Embedder }> {
  const server = await startEmbeddingsServer(t);
  const embedder = createEmbedder({ baseUrl: server.url, model: 'small', retryMs: 1, ...more });
  t.after(() => embedder.close());
  return { server, embedder };
}

/** The refusal of `embed`, checked for being one. */
async function refusal(embedder: Embedder, texts: readonly string[] = ['a']): Promise<EmbeddingError> {
  const error = await embedder.embed(texts).catch((reason: unknown) => reason);
  assert.ok(error instanceof EmbeddingError, String(error));
  assert.match(error.message, /^The embeddings server.*\.$/s, 'a sentence');
  return error;
}

test('MODEL-27: texts are sent in OpenAI’s form with the key, vectors come back in order, in base64 or as numbers', async (t) => {
  const { server, embedder } = await open(t, { apiKey: 'sk-1' });
  server.answer = (_, res) => sendVectors(res, [base64Of([1, -0.5]), [0.25, 2]]);
  assert.deepEqual(
    (await embedder.embed(['one', 'two'])).map((vector) => [...vector]),
    [
      [1, -0.5],
      [0.25, 2],
    ],
  );
  assert.deepEqual(server.asked, [{ model: 'small', input: ['one', 'two'], encoding_format: 'base64' }]);
  assert.deepEqual(server.authorization, ['Bearer sk-1']);
  server.answer = (_, res) => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ];
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data }));
  };
  const byIndex = await embedder.embed(['one', 'two']);
  assert.deepEqual(
    byIndex.map((vector) => vector[0]),
    [1, 2],
    'the index counts, not the place',
  );
  assert.deepEqual(await embedder.embed([]), []);
  assert.equal(server.asked.length, 2, 'nothing is asked for nothing');
});

test('MODEL-27: batches are bounded in texts and characters', async (t) => {
  const { server, embedder } = await open(t);
  const many = Array.from({ length: BATCH_TEXTS_MAX * 2 + 1 }, (_, index) => `text ${index}`);
  assert.equal((await embedder.embed(many)).length, many.length);
  assert.deepEqual(
    server.asked.map(({ input }) => input.length),
    [BATCH_TEXTS_MAX, BATCH_TEXTS_MAX, 1],
  );
  assert.deepEqual(server.texts(), many);
  const long = 'x'.repeat(BATCH_CHARS_MAX / 2 + 1);
  await embedder.embed([long, long, 'short']);
  assert.deepEqual(
    server.asked.slice(3).map(({ input }) => input.length),
    [1, 2],
  );
});

test('MODEL-27: a busy server is asked again at most twice, after the time that it names', async (t) => {
  const { server, embedder } = await open(t, { retryMs: 600_000 });
  for (const status of [429, 503]) {
    const before = server.asked.length;
    server.answer = (_, res) =>
      server.asked.length - before < 3 ? sendError(res, status, { 'Retry-After': '0' }) : sendVectors(res, [[1]]);
    assert.deepEqual(await embedder.embed(['a']), [Float32Array.of(1)]);
    assert.equal(server.asked.length - before, 3);
  }
  const before = server.asked.length;
  server.answer = (_, res) => sendError(res, 429, { 'Retry-After': new Date(0).toUTCString() });
  const error = await refusal(embedder);
  assert.deepEqual([error.about, error.message], ['server', 'The embeddings server answered: status 429 played_error: not now.']);
  assert.equal(server.asked.length - before, 3);
});

test('MODEL-27: other refusals are told at once, and whether they are about the texts', async (t) => {
  const { server, embedder } = await open(t, { apiKey: 'sk-secret' });
  for (const [status, about] of [
    [400, 'texts'],
    [413, 'texts'],
    [401, 'server'],
    [404, 'server'],
    [500, 'server'],
  ] as const) {
    const before = server.asked.length;
    server.answer = (_, res) => {
      res.writeHead(status, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ error: { type: 'said sk-secret', message: 'sk-secret' } }));
    };
    const error = await refusal(embedder);
    assert.deepEqual([error.about, server.asked.length - before], [about, 1], String(status));
    assert.match(error.message, new RegExp(`status ${status}`));
    assert.doesNotMatch(error.message, /sk-secret/);
  }
  server.answer = (_, res) => void res.destroy();
  assert.match((await refusal(embedder)).message, /could not be asked: the connection failed/);
});

test('MODEL-27: an answer that cannot be used is refused with what is wrong with it', async (t) => {
  const { server, embedder } = await open(t);
  const wrong: readonly (readonly [readonly (readonly number[] | string)[], RegExp])[] = [
    [[[1, 2], [1]], /vectors of 2 and 1 numbers for one model/],
    [[[1, 2]], /should hold 2 vectors/],
    [[[], []], /a vector has 0 numbers/],
    [[Array.from({ length: DIMENSIONS_MAX + 1 }, () => 1), [1]], /a vector has 4097 numbers, and it may have 1 to 4096/],
    [['AAA=', 'AAA='], /base64 is cut off/],
    [[base64Of([Number.NaN]), [1]], /no number/],
  ];
  for (const [vectors, message] of wrong) {
    server.answer = (_, res) => sendVectors(res, vectors);
    assert.match((await refusal(embedder, ['a', 'b'])).message, message);
  }
  for (const text of ['no json', 'null', '{"data":{}}', '{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}']) {
    server.answer = (_, res) => void res.writeHead(200).end(text);
    assert.match((await refusal(embedder, ['a', 'b'])).message, /answer cannot be used/, text);
  }
  server.answer = (request, res) =>
    sendVectors(
      res,
      request.input.map((_, index) => (request.input.length > 1 ? [1] : [1, index])),
    );
  const texts = Array.from({ length: BATCH_TEXTS_MAX + 1 }, () => 'x');
  assert.match((await refusal(embedder, texts)).message, /vectors of 1 and 2 numbers/, 'batches are compared, too');
});

test('MODEL-27: a signal ends the wait, with its own reason', async (t) => {
  const { server, embedder } = await open(t);
  server.answer = () => {};
  const controller = new AbortController();
  const embedding = embedder.embed(['a'], controller.signal);
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(embedding, (error) => error === reason);
  server.answer = (_, res) => sendError(res, 503, { 'Retry-After': '600' });
  await assert.rejects(embedder.embed(['a'], AbortSignal.timeout(50)), /aborted/);
});

test('MODEL-27: an independent compatible server is understood, too', async (t) => {
  const mock = await LLMock.create({ port: 0 });
  t.after(() => mock.stop());
  const embedder = createEmbedder({ baseUrl: `${mock.url}/v1`, apiKey: 'sk-test', model: 'text-embedding-3-small', retryMs: 1 });
  t.after(() => embedder.close());
  mock.onEmbedding('exact text', { embedding: [0.5, -1, 0.25] });
  assert.deepEqual(await embedder.embed(['exact text']), [Float32Array.of(0.5, -1, 0.25)]);
  const [one, other, again] = await embedder.embed(['some words', 'different ones', 'some words']);
  assert.ok(one !== undefined && one.length > 1);
  assert.deepEqual(again, one);
  assert.notDeepEqual(other, one);
  mock.nextRequestError(503, { message: 'overloaded', type: 'overloaded' });
  assert.deepEqual(await embedder.embed(['exact text']), [Float32Array.of(0.5, -1, 0.25)], 'asked again');
});
