/** What questions mean, asked of a server over HTTP. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createQueryEmbeddings, REST_MS } from '../../../actors/knowledge/query-embeddings.ts';
import { createEmbedder } from '../../../assistant/embeddings/embeddings.ts';
import { meaningOf, sendError, startEmbeddingsServer } from '../../support/embeddings-server.ts';
import { eventually } from '../../support/eventually.ts';

/** Several rests, on a machine where other tests run. */
const SOON_MS = 60_000;

async function open(t: TestContext, waitMs = 10_000) {
  const server = await startEmbeddingsServer(t);
  const embedder = createEmbedder({ baseUrl: server.url, model: 'small', retryMs: 1 });
  t.after(() => embedder.close());
  const warned: object[] = [];
  const clock = { nowMs: 0 };
  const log = { warn: (fields: object) => void warned.push(fields) };
  return { server, warned, clock, meanings: createQueryEmbeddings({ embedder, log, nowMs: () => clock.nowMs, waitMs }) };
}

test('MODEL-26: EMBEDDING_MODEL: a question’s meaning is known once it is prepared, and asked for once', async (t) => {
  const { server, meanings } = await open(t);
  assert.equal(meanings.get('refund'), undefined);
  const first = meanings.prepare('refund');
  assert.equal(meanings.prepare('refund'), first, 'two that ask the same share the answer');
  await first;
  assert.deepEqual(meanings.get('refund'), { model: 'small', vector: Float32Array.from(meaningOf('refund')) });
  assert.equal(meanings.prepare('refund'), undefined, 'nothing to wait for');
  assert.equal(meanings.prepare('  '), undefined);
  assert.deepEqual(server.texts(), ['refund']);
});

test('MODEL-26: EMBEDDING_MODEL: the queries of a round are asked for in one request, but for those that are known or under way', async (t) => {
  const { server, meanings } = await open(t);
  await meanings.prepare('known');
  const running = meanings.prepare('running');
  const all = meanings.prepare('known', 'running', 'one', ' ', 'two', 'one');
  assert.notEqual(all, running);
  await all;
  assert.deepEqual(
    server.asked.map(({ input }) => input),
    [['known'], ['running'], ['one', 'two']],
  );
  for (const text of ['running', 'one', 'two']) assert.deepEqual(meanings.get(text)?.vector, Float32Array.from(meaningOf(text)));
});

test('MODEL-26: EMBEDDING_MODEL: a server that does not answer in time costs the question its meaning, and the next ones no time', async (t) => {
  const { server, meanings, clock, warned } = await open(t, 1_000);
  server.answer = () => {};
  await meanings.prepare('slow');
  assert.equal(meanings.get('slow'), undefined);
  assert.equal(meanings.prepare('another'), undefined, 'the server rests');
  assert.equal(warned.length, 1);
  server.answer = undefined;
  // On a busy machine a good answer may be late as well: then it rests once more.
  await eventually(
    async () => {
      clock.nowMs += REST_MS;
      await meanings.prepare('another');
      return meanings.get('another') !== undefined;
    },
    SOON_MS,
    () => 'asked again after its rest',
  );
});

test('MODEL-26: EMBEDDING_MODEL: a failing server is said once for each rest, however many questions meet it', async (t) => {
  const { server, meanings, warned } = await open(t);
  server.answer = (_, res) => sendError(res, 500);
  await Promise.all(['a', 'b', 'c'].map((text) => meanings.prepare(text)));
  assert.equal(server.asked.length, 3);
  assert.deepEqual(warned, [{ reason: 'The embeddings server answered: status 500 played_error: not now.', rest_ms: REST_MS }]);
});
