/** Vectors of chunks in a migrated file, and the searches that use them. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { countKnowledge, sourcesToIndex } from '../../../storage/knowledge/knowledge-overview.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import {
  chunksToEmbed,
  firstChunkOf,
  type Meaning,
  nearestChunks,
  signatureOf,
  transactions as vectors,
} from '../../../storage/knowledge/knowledge-vectors.ts';
import type { Connection, Row, Statement } from '../../../storage/sqlite/connection.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { each } from '../../support/each.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';
import { StoredSources } from './stored-sources.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const MODEL = 'small';

function openFixture(t: TestContext) {
  const files = openFiles(t, NOW);
  const { db } = files;
  const appId = addApp(files, 'Shop', NOW);
  const reader = openReader(db.path, { vectors: true });
  t.after(() => reader.close());
  return {
    appId,
    otherAppId: addApp(files, 'Other', NOW),
    db,
    /** Reads with the extension. */
    reader,
    /** Indexes a source of these chunks; returns its id. */
    async add(key: string, texts: readonly string[], to = appId) {
      const input = { sourceId: mintId('kno', NOW), appId: to, externalKey: key, kind: 'text' as const, title: key, uri: null };
      const sources = new StoredSources(db, NOW);
      const { id } = await sources.save({ ...input, content: texts.join('\n'), origin: 'console', reason: null });
      const chunks = texts.map((text, ordinal) => ({ ordinal, headings: [], text }));
      assert.equal((await sources.index(id, chunks))?.state, 'indexed');
      return id;
    },
    /** Gives every chunk that lacks one the vector that `of` makes of its text; returns the texts. */
    embed(of: (text: string) => readonly number[], model = MODEL) {
      const { chunks } = chunksToEmbed(db, model, 0, 10_000);
      vectors.saveVectors(db, { model, vectors: chunks.map((chunk) => ({ chunk, vector: Float32Array.from(of(chunk.text)) })) });
      return chunks.map(({ text }) => text);
    },
    nearest: (vector: readonly number[], limit = 10, model = MODEL) =>
      nearestChunks(reader, appId, { model, vector: Float32Array.from(vector) }, limit).map((row) => row.text),
    stored: () => db.statement('SELECT count(*) AS vectors FROM knowledge_vectors').get()?.vectors as number,
  };
}

/** `[angle in degrees]` → a vector of eight numbers. */
const at = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180), 0, 0, 0, 0, 0, 0];
const byName = (text: string) => at(Number(text));

test('MODEL-26: the nearest chunks of this app come first, and none at a right angle or beyond', async (t) => {
  const fixture = openFixture(t);
  await fixture.add('one', ['50', '10', '95', '180']);
  await fixture.add('two', ['30', '70']);
  await fixture.add('theirs', ['1'], fixture.otherAppId);
  assert.deepEqual(fixture.nearest(at(0)), [], 'none has a vector yet');
  fixture.embed(byName);
  assert.deepEqual(fixture.nearest(at(0)), ['10', '30', '50', '70']);
  assert.deepEqual(fixture.nearest(at(60), 3), ['50', '70', '30']);
  assert.deepEqual(fixture.nearest([0, 0, 0, 0, 0, 0, 0, 0]), [], 'a vector without a direction is near nothing');
});

test('MODEL-28: vectors of another model or dimension are passed over, and replaced by the present model’s', async (t) => {
  const fixture = openFixture(t);
  await fixture.add('one', ['10', '20']);
  fixture.embed(byName, 'old');
  assert.deepEqual(fixture.nearest(at(0)), []);
  assert.deepEqual(fixture.nearest([...at(0), 0, 0, 0, 0, 0, 0, 0, 0], 10, 'old'), [], 'twice as long');
  assert.deepEqual(fixture.nearest(at(0).slice(0, 7), 10, 'old'), [], 'one number shorter, as many bytes of bits');
  assert.deepEqual(fixture.embed(byName), ['10', '20'], 'the queue holds what the present model has not seen');
  assert.deepEqual(fixture.nearest(at(0)), ['10', '20']);
  assert.deepEqual([fixture.stored(), fixture.nearest(at(0), 10, 'old')], [2, []]);
});

test('MODEL-28: a model that comes back with other dimensions has its older vectors of the app dropped', async (t) => {
  const fixture = openFixture(t);
  await fixture.add('one', ['10', '20']);
  await fixture.add('theirs', ['30'], fixture.otherAppId);
  fixture.embed(byName);
  await fixture.add('two', ['40']);
  assert.deepEqual(
    fixture.embed((text) => [...byName(text), 0]),
    ['40'],
  );
  assert.deepEqual(fixture.nearest([...at(0), 0]), ['40']);
  assert.equal(fixture.stored(), 2, 'the other app keeps its own');
  assert.deepEqual(each(chunksToEmbed(fixture.db, MODEL, 0, 10).chunks, 'text'), ['10', '20']);
});

test('MODEL-28: a vector leaves with its chunk, and one that comes too late finds no other chunk under its id', async (t) => {
  const fixture = openFixture(t);
  const sourceId = await fixture.add('one', ['10']);
  const { chunks } = chunksToEmbed(fixture.db, MODEL, 0, 10);
  fixture.embed(byName);
  assert.equal(fixture.stored(), 1);
  assert.equal(await fixture.add('one', ['80', '90']), sourceId);
  assert.equal(firstChunkOf(fixture.db, sourceId), chunks[0]?.id, 'the id is used again');
  assert.equal(fixture.stored(), 0);
  const late = chunks.map((chunk) => ({ chunk, vector: Float32Array.from(at(10)) }));
  assert.equal(vectors.saveVectors(fixture.db, { model: MODEL, vectors: late }), 0);
  assert.equal(fixture.stored(), 0);
  fixture.embed(byName);
  await new StoredSources(fixture.db, NOW).archive(fixture.appId, 'one');
  assert.equal(fixture.stored(), 0);
});

test('MODEL-28: the queue is looked through in pages, and knows its end', async (t) => {
  const fixture = openFixture(t);
  await fixture.add('one', ['1', '2', '3']);
  const first = chunksToEmbed(fixture.db, MODEL, 0, 2);
  assert.deepEqual([first.chunks.map(({ text }) => text), first.last], [['1', '2'], 2]);
  fixture.embed(byName);
  assert.deepEqual(chunksToEmbed(fixture.db, MODEL, 0, 2), { chunks: [], last: 2 });
  assert.deepEqual(chunksToEmbed(fixture.db, MODEL, 3, 2), { chunks: [], last: undefined });
});

test('MODEL-26: among far more chunks than are compared exactly, what is nearest by far is found', async (t) => {
  const fixture = openFixture(t);
  // A generator of its own, so that the same vectors come on every run.
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const known = new Map(Array.from({ length: 1_500 }, (_, index) => [`${index}`, Array.from({ length: 64 }, random)]));
  await fixture.add('many', [...known.keys()]);
  fixture.embed((text) => known.get(text) ?? []);
  for (const wanted of ['3', '700', '1499']) {
    const near = (known.get(wanted) ?? []).map((value) => value + random() * 0.4);
    assert.equal(fixture.nearest(near, 1)[0], wanted);
  }
});

test('MODEL-26: a signature has a bit for each number above the mean', () => {
  assert.deepEqual([...signatureOf(Float32Array.from([1, -1, -1, 1, -1, -1, -1, -1, 1]))], [0b1001, 1]);
  const shifted = Float32Array.from([1, -1, -1, 1, -1, -1, -1, -1, 1], (value) => value + 5);
  assert.deepEqual([...signatureOf(shifted)], [0b1001, 1], 'numbers that are all positive still tell apart');
});

test('MODEL-26: a search with a meaning fuses both rankings, and one without is by words alone', async (t) => {
  const fixture = openFixture(t);
  await fixture.add('words', ['delivery takes long']);
  await fixture.add('both', ['delivery is free']);
  await fixture.add('sense', ['parcels cost nothing']);
  await fixture.add('neither', ['opening hours']);
  const places: Record<string, number> = {
    'delivery takes long': 120,
    'delivery is free': 20,
    'parcels cost nothing': 5,
    'opening hours': 100,
  };
  fixture.embed((text) => at(places[text] ?? 0));
  const found = (meaning?: Meaning, limit = 10) =>
    searchKnowledge(fixture.reader, fixture.appId, 'delivery', limit, meaning).map(({ externalKey }) => externalKey);
  const meaning = { model: MODEL, vector: Float32Array.from(at(0)) };
  assert.deepEqual(found().sort(), ['both', 'words']);
  assert.deepEqual([found(meaning)[0], found(meaning).sort()], ['both', ['both', 'sense', 'words']]);
  assert.deepEqual(found(meaning, 1), ['both']);
  const scores = searchKnowledge(fixture.reader, fixture.appId, 'delivery', 10, meaning).map(({ score }) => score);
  assert.deepEqual(
    scores,
    [...scores].sort((a, b) => b - a),
  );
  assert.deepEqual(found({ ...meaning, model: 'unknown' }).sort(), ['both', 'words']);
});

test('STORE-18: the next source to index and the counts of sources are read from indexes, without any source’s text', (t) => {
  const { db, appId } = openFixture(t);
  const plansOf = (read: (asked: Connection) => void) => {
    const plans: string[] = [];
    const explain = (sql: string) => db.statement(`EXPLAIN QUERY PLAN ${sql}`);
    const explained = <T>(sql: string, statement: Statement<T>): Statement<T> => {
      const note = (parameters?: Row) =>
        void plans.push(
          ...explain(sql)
            .all(parameters)
            .map(({ detail }) => String(detail)),
        );
      return {
        get(parameters) {
          note(parameters);
          return statement.get(parameters);
        },
        all(parameters) {
          note(parameters);
          return statement.all(parameters);
        },
        run: (parameters) => statement.run(parameters),
      };
    };
    read({
      path: db.path,
      exec: (sql) => db.exec(sql),
      close: () => db.close(),
      statement: (sql) => explained(sql, db.statement(sql)),
      tuples: (sql) => explained(sql, db.tuples(sql)),
    });
    return plans;
  };
  const waiting = plansOf((asked) => sourcesToIndex(asked, 1, 'url'));
  assert.deepEqual(waiting, ['SCAN knowledge_sources USING COVERING INDEX knowledge_sources_waiting'], 'in its order, too');
  const counting = plansOf((asked) => countKnowledge(asked, appId));
  assert.ok(counting.includes('SEARCH knowledge_sources USING COVERING INDEX knowledge_sources_by_state (app_id=?)'), counting.join('; '));
});
