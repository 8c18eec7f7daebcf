/** Chunks get their vectors in the background, from a server over HTTP that may be down. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type KnowledgeReport, takeInKnowledge } from '../../../actors/configuration/knowledge.ts';
import { KnowledgeEmbedding } from '../../../actors/knowledge/embedding.ts';
import { KnowledgeIndexer } from '../../../actors/knowledge/indexer.ts';
import { grantedLeases } from '../../../actors/leases.ts';
import { createEmbedder } from '../../../assistant/embeddings/embeddings.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import {
  base64Of,
  type EmbeddingsServer,
  meaningOf,
  sendError,
  sendVectors,
  startEmbeddingsServer,
} from '../../support/embeddings-server.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { addOrganisation, NOW, playedReader, textItem } from './fixture.ts';

type Said = Readonly<Record<string, unknown>>;

interface Fixture {
  readonly embedding: KnowledgeEmbedding;
  readonly ids: { readonly organisationId: string; readonly appId: string };
  readonly said: readonly Said[];
  send(key: string, content: string): Promise<KnowledgeReport>;
  /** Takes up what waits, as a start does. */
  resume(): Promise<number>;
  /** Keys that are found by what the question means, and by nothing else. */
  found(question: string, dimensions?: number): string[];
  /** Resolves when this many chunks have a vector of the model. */
  embedded(count: number): Promise<void>;
  /** What `knowledge_failing` says of the model; undefined while it does not hold. */
  failing(): string | undefined;
  stop(): Promise<void>;
}

interface FixtureOptions {
  readonly dataDir?: string;
  readonly ids?: Fixture['ids'];
  readonly model?: string;
}

async function openFixture(t: TestContext, server: EmbeddingsServer, options: FixtureOptions = {}): Promise<Fixture> {
  const { dataDir = temporaryDir(t), model = 'small' } = options;
  const storage: Storage = openStorage({ dataDir, masterKey: undefined, vectors: true, onFatal: () => {} });
  const ids = options.ids ?? (await addOrganisation(storage));
  const embedder = createEmbedder({ baseUrl: server.url, model, retryMs: 1 });
  const said: Said[] = [];
  const log = (fields: object, message: string) => void said.push({ ...fields, message });
  const embedding = new KnowledgeEmbedding({ storage, embedder, log: { info: log, warn: log }, backoff: { firstMs: 1, maxMs: 4 } });
  const indexer = new KnowledgeIndexer({
    storage,
    leases: grantedLeases,
    links: playedReader(),
    embedding,
    log: { info: log, error: log },
    nowMs: () => NOW,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      await indexer.close();
      await embedding.close();
      await embedder.close();
      await storage.close();
    })();
    return stopped;
  };
  t.after(stop);
  const db = () => storage.organisation(ids.organisationId);
  return {
    embedding,
    ids,
    said,
    stop,
    resume: () => indexer.resume(ids.organisationId),
    send: (key, content) =>
      takeInKnowledge({ storage, indexer, nowMs: () => NOW }, { ...ids, origin: 'setup' }, [textItem(key, content)], 0),
    found: (question, dimensions) =>
      searchKnowledge(db(), ids.appId, 'zzz', 10, { model, vector: Float32Array.from(meaningOf(question, dimensions)) }).map(
        ({ externalKey }) => externalKey,
      ),
    failing: () => storage.conditions.list().find(({ name, subject }) => name === 'knowledge_failing' && subject === model)?.detail,
    async embedded(count) {
      const stored = () => db().statement('SELECT count(*) AS n FROM knowledge_vectors WHERE model = :model').get({ model })?.n;
      await eventually(() => stored() === count);
    },
  };
}

test('SEARCH-7: a source is embedded after it was indexed, with its title, and then found by what it means', async (t) => {
  const server = await startEmbeddingsServer(t);
  const fixture = await openFixture(t, server);
  const report = await fixture.send('returns', 'You get your money back within a fortnight.');
  assert.equal(report.results[0]?.ok && report.results[0].status, 'indexed', 'nobody waited for the server');
  await fixture.send('shipping', 'The courier brings your parcel.');
  await fixture.embedded(2);
  assert.deepEqual(server.texts(), ['returns\nYou get your money back within a fortnight.', 'shipping\nThe courier brings your parcel.']);
  assert.deepEqual(fixture.found('reimbursement deadline'), ['returns']);
  assert.deepEqual(fixture.found('driver'), ['shipping']);
});

test('SEARCH-7, RUN-35: a server that is down fails no source, and is a condition; its passages are embedded once it is up again', async (t) => {
  const server = await startEmbeddingsServer(t);
  server.answer = (_, res) => sendError(res, 500);
  const fixture = await openFixture(t, server);
  const report = await fixture.send('returns', 'You get your money back.');
  assert.deepEqual([report.failed, report.results[0]?.ok && report.results[0].status], [0, 'indexed']);
  await eventually(() => fixture.failing() !== undefined);
  assert.match(String(fixture.failing()), /status 500/);
  assert.deepEqual(fixture.found('refund'), []);
  server.answer = undefined;
  await fixture.embedded(1);
  assert.deepEqual(fixture.found('refund'), ['returns']);
  // The rows can be seen before the writer has said so.
  await eventually(() => fixture.said.length >= 2);
  assert.equal(fixture.failing(), undefined);
  assert.deepEqual(
    fixture.said.map(({ reason }) => reason),
    ['The embeddings server answered: status 500 played_error: not now.', undefined],
    'said once, and once that it is over',
  );
});

test('SEARCH-7: what a stop cut off is taken up by the next start, and what has its vector is not asked for again', async (t) => {
  const server = await startEmbeddingsServer(t);
  const dataDir = temporaryDir(t);
  const first = await openFixture(t, server, { dataDir });
  await first.send('returns', 'You get your money back.');
  await first.embedded(1);
  server.answer = () => {};
  await first.send('shipping', 'The courier brings your parcel.');
  await eventually(() => server.asked.length >= 2);
  await first.stop();
  server.answer = undefined;
  const before = server.asked.length;
  const second = await openFixture(t, server, { dataDir, ids: first.ids });
  await second.resume();
  await second.embedded(2);
  assert.deepEqual(
    server.asked.slice(before).map(({ input }) => input),
    [['shipping\nThe courier brings your parcel.']],
  );
  assert.deepEqual(second.found('driver'), ['shipping']);
});

test('SEARCH-9: another model embeds everything again', async (t) => {
  const server = await startEmbeddingsServer(t);
  const dataDir = temporaryDir(t);
  const first = await openFixture(t, server, { dataDir });
  await first.send('returns', 'You get your money back.');
  await first.embedded(1);
  await first.stop();
  const second = await openFixture(t, server, { dataDir, ids: first.ids, model: 'large' });
  assert.deepEqual(second.found('refund'), [], 'vectors of different models are not compared');
  await second.resume();
  await second.embedded(1);
  assert.deepEqual(second.found('refund'), ['returns']);
  assert.deepEqual(
    server.asked.map(({ model }) => model),
    ['small', 'large'],
  );
});

test('SEARCH-8: a passage that the server does not take is left to its words, and holds up no other', async (t) => {
  const server = await startEmbeddingsServer(t);
  const dataDir = temporaryDir(t);
  const down = await openFixture(t, server, { dataDir });
  server.answer = (_, res) => sendError(res, 500);
  for (const key of ['one', 'two', 'three', 'four']) await down.send(key, `The ${key} parcel.`);
  await down.stop();
  server.answer = (request, res) => {
    if (request.input.some((text) => text.includes('three'))) sendError(res, 400);
    else
      sendVectors(
        res,
        request.input.map((text) => base64Of(meaningOf(text))),
      );
  };
  const fixture = await openFixture(t, server, { dataDir, ids: down.ids });
  await fixture.resume();
  await fixture.embedded(3);
  assert.deepEqual(fixture.found('shipment').sort(), ['four', 'one', 'two']);
  const [warned] = fixture.said;
  assert.match(String(warned?.message), /finds it by its words only/);
  assert.equal(warned?.reason, 'The embeddings server answered: status 400 played_error: not now.');
});

test('SEARCH-8: a server that takes no text at all is down, not choosy: everything is tried again', async (t) => {
  const server = await startEmbeddingsServer(t);
  const dataDir = temporaryDir(t);
  const down = await openFixture(t, server, { dataDir });
  server.answer = (_, res) => sendError(res, 500);
  for (const key of ['one', 'two']) await down.send(key, `The ${key} parcel.`);
  await down.stop();
  // Both together and each alone; what comes after is taken. Said by the server itself: whoever looks on is too late.
  let refused = 0;
  server.answer = (_, res) => {
    refused += 1;
    if (refused === 3) server.answer = undefined;
    sendError(res, 400);
  };
  const fixture = await openFixture(t, server, { dataDir, ids: down.ids });
  await fixture.resume();
  await fixture.embedded(2);
  assert.equal(refused, 3);
  assert.deepEqual(fixture.found('shipment').sort(), ['one', 'two']);
});

test('SEARCH-10: a source that changes while it is embedded gets the vector of what it says now', async (t) => {
  const server = await startEmbeddingsServer(t);
  const fixture = await openFixture(t, server);
  let release = () => {};
  server.answer = (request, res) => {
    server.answer = undefined;
    release = () =>
      sendVectors(
        res,
        request.input.map((text) => base64Of(meaningOf(text))),
      );
  };
  await fixture.send('page', 'You get your money back.');
  await eventually(() => server.asked.length !== 0);
  await fixture.send('page', 'The courier brings your parcel.');
  release();
  await fixture.embedded(1);
  assert.deepEqual([fixture.found('driver'), fixture.found('refund')], [['page'], []]);
});

test('SEARCH-9: a model that changes its dimensions under its name embeds the app’s passages again', async (t) => {
  const server = await startEmbeddingsServer(t);
  const fixture = await openFixture(t, server);
  await fixture.send('returns', 'You get your money back.');
  await fixture.embedded(1);
  server.answer = (request, res) =>
    sendVectors(
      res,
      request.input.map((text) => base64Of(meaningOf(text, 256))),
    );
  await fixture.send('shipping', 'The courier brings your parcel.');
  await eventually(() => fixture.found('refund', 256).length !== 0);
  await fixture.embedded(2);
  assert.deepEqual([fixture.found('refund', 256), fixture.found('driver', 256)], [['returns'], ['shipping']]);
});
