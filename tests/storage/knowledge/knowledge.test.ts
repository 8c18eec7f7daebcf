import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { IndexedContent } from '../../../actors/knowledge/sources.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readSource, readSourceContent, SOURCES_PER_APP_MAX } from '../../../storage/knowledge/knowledge.ts';
import {
  countKnowledge,
  listSources,
  listSourcesInService,
  readIndexedTitles,
  sampleOfKnowledge,
  sourcesToIndex,
} from '../../../storage/knowledge/knowledge-overview.ts';
import { QUERY_TERMS_MAX, queryTerms } from '../../../storage/knowledge/knowledge-query.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { each } from '../../support/each.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';
import { StoredSources } from './stored-sources.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

interface Article {
  readonly key: string;
  readonly title?: string;
  readonly content?: string;
  readonly headings?: readonly string[];
  readonly text?: string;
  readonly atMs?: number;
}

function upsert(db: Connection, appId: string, article: Article) {
  return new StoredSources(db, NOW).save({
    sourceId: mintId('kno', article.atMs ?? NOW),
    appId,
    externalKey: article.key,
    kind: 'text',
    title: article.title ?? 'An article',
    uri: null,
    content: article.content ?? article.text ?? 'Content.',
    origin: 'console',
    reason: null,
  });
}

async function index(db: Connection, sourceId: string, headings: readonly string[], text: string): Promise<boolean> {
  return (await new StoredSources(db, NOW).index(sourceId, [{ ordinal: 0, headings, text }])) !== null;
}

async function add(db: Connection, appId: string, article: Article): Promise<string> {
  const { id } = await upsert(db, appId, article);
  assert.equal(await index(db, id, article.headings ?? [], article.text ?? 'Content.'), true);
  return id;
}

function keysFound(db: Connection, appId: string, text: string): string[] {
  return searchKnowledge(db, appId, text, 10).map(({ externalKey }) => externalKey);
}

test('KNOWLEDGE-1: a key sent again updates its source; identical content is unchanged and stays indexed', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const id = await add(db, appId, { key: 'returns', text: 'Thirty days.' });
  assert.deepEqual(await upsert(db, appId, { key: 'returns', text: 'Thirty days.' }), { op: 'unchanged', id });
  assert.equal(readSource(db, id)?.state, 'indexed');
  assert.deepEqual(await upsert(db, appId, { key: 'returns', text: 'Sixty days.' }), { op: 'updated', id });
  assert.equal(readSource(db, id)?.state, 'pending');
  assert.equal(readSourceContent(db, id), 'Sixty days.');
  assert.equal(listSources(db, appId, '', 10).length, 1);
});

test('KNOWLEDGE-6: what is pending, failed or archived is found by no search', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const ids: string[] = [];
  for (const key of ['indexed', 'pending', 'failed', 'archived']) ids.push(await add(db, appId, { key, text: `Zebra ${key}.` }));
  assert.deepEqual(keysFound(db, appId, 'zebra').sort(), ['archived', 'failed', 'indexed', 'pending']);
  await upsert(db, appId, { key: 'pending', text: 'Zebra changed.' });
  await upsert(db, appId, { key: 'failed', text: 'Zebra broken.' });
  const sources = new StoredSources(db, NOW);
  assert.ok(await sources.fail(sources.content(ids[2] ?? ''), 'No.'));
  await sources.archive(appId, 'archived');
  assert.deepEqual(keysFound(db, appId, 'zebra'), ['indexed']);
  assert.deepEqual(countKnowledge(db, appId), { sources: 3, indexed: 1, pending: 1, indexing: 0, failed: 1, chunks: 1 });
});

test('KNOWLEDGE-5: archiving keeps the source, and the same content sent again brings it back', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const id = await add(db, appId, { key: 'a', text: 'Zebra.' });
  const sources = new StoredSources(db, NOW);
  assert.deepEqual(await sources.archive(appId, 'a'), { id });
  assert.deepEqual(await sources.archive(appId, 'a', { nowMs: NOW + 1 }), { id });
  assert.equal(readSource(db, id)?.archivedAtMs, NOW);
  assert.deepEqual(sourcesToIndex(db, 10), []);
  assert.equal((await upsert(db, appId, { key: 'a', text: 'Zebra.' })).op, 'updated');
  assert.equal(await index(db, id, [], 'Zebra.'), true);
  assert.deepEqual(keysFound(db, appId, 'zebra'), ['a']);
  await assert.rejects(sources.archive(appId, 'nothing'), { code: 'not_found' });
});

test('KNOWLEDGE-9: the reason of an archived item is kept; without one the source keeps the reason it was written with', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const id = await add(db, appId, { key: 'a' });
  const sources = new StoredSources(db, NOW);
  await sources.archive(appId, 'a', { reason: 'Out of date.' });
  assert.equal(readSource(db, id)?.reason, 'Out of date.');
  const input = { sourceId: 'kno_b', appId, externalKey: 'b', kind: 'text' as const, title: 'B', uri: null, content: 'B.' };
  await sources.save({ ...input, origin: 'setup', reason: 'From docs/b.md.' });
  await sources.archive(appId, 'b');
  assert.equal(readSource(db, 'kno_b')?.reason, 'From docs/b.md.');
});

test('KNOWLEDGE-10: an app takes 10,000 sources, archived ones included, and no more; what it has can still be changed', async (t) => {
  const { db, appId } = openApp(t, NOW);
  await upsert(db, appId, { key: 'first' });
  // The others at once: each by itself would take seconds.
  const sql = `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < :many)
    INSERT INTO knowledge_sources (id, app_id, external_key, kind, title, content, content_hash, state, archived_at_ms, origin, created_at_ms, updated_at_ms)
    SELECT 'kno_' || i, app_id, 'key ' || i, kind, title, content, content_hash, 'indexed', :nowMs, origin, created_at_ms, updated_at_ms
    FROM n, knowledge_sources WHERE external_key = 'first'`;
  db.statement(sql).run({ many: SOURCES_PER_APP_MAX, nowMs: NOW });
  await assert.rejects(upsert(db, appId, { key: 'one more' }), { code: 'conflict', message: /at most 10000 knowledge sources/ });
  assert.equal((await upsert(db, appId, { key: 'first', content: 'Other content.' })).op, 'updated');
});

test('KNOWLEDGE-3: an indexer that is late changes nothing', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const { id: sourceId } = await upsert(db, appId, { key: 'a', text: 'Old.' });
  const sources = new StoredSources(db, NOW);
  const old = sources.content(sourceId);
  assert.equal((await sources.begin(old))?.state, 'indexing');
  await upsert(db, appId, { key: 'a', text: 'New.' });
  assert.equal(await sources.finish(old, [{ ordinal: 0, headings: [], text: 'Old.' }]), null);
  assert.equal(await sources.fail(old, 'No.'), null);
  assert.equal(await sources.begin(old), null);
  assert.deepEqual([readSource(db, sourceId)?.state, readSource(db, sourceId)?.chunks], ['pending', 0]);
});

test('LINK-2: what a link led to is stored with its chunks at once, or not at all when it is late', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const sources = new StoredSources(db, NOW);
  const send = (uri: string, title: string | null) =>
    sources.save({
      ...{ sourceId: mintId('kno', NOW), appId, externalKey: 'page', kind: 'url', title, uri, content: null },
      ...{ origin: 'setup', reason: null },
    });
  const fetched = (content: IndexedContent, title: string) =>
    sources.finish(content, [{ ordinal: 0, headings: [], text: 'A zebra.' }], { title, content: 'A zebra.' });
  const begin = async () => {
    const content = sources.content(sourceId);
    assert.equal((await sources.begin(content))?.state, 'indexing');
    return content;
  };
  const { id: sourceId } = await send('https://shop.example/one', null);
  assert.equal(readSource(db, sourceId)?.title, 'https://shop.example/one');
  const old = await begin();
  assert.equal((await send('https://shop.example/two', null)).op, 'updated');
  assert.equal(await fetched(old, 'Old'), null);
  assert.deepEqual([readSourceContent(db, sourceId), keysFound(db, appId, 'zebra')], [null, []]);
  assert.ok(await fetched(await begin(), 'New'));
  assert.deepEqual([readSource(db, sourceId)?.title, readSourceContent(db, sourceId)], ['New', 'A zebra.']);
  assert.equal((await send('https://shop.example/two', null)).op, 'updated', 'sent again, it is fetched again');
  assert.equal((await send('https://shop.example/two', null)).op, 'unchanged', 'it waits to be fetched already');
  assert.ok(await fetched(await begin(), 'New'));
  assert.equal((await send('https://shop.example/two', 'Ours')).op, 'updated');
  assert.equal(readSourceContent(db, sourceId), null);
  assert.ok(await fetched(await begin(), 'New'));
  assert.equal(readSource(db, sourceId)?.title, 'Ours');
  assert.deepEqual(keysFound(db, appId, 'ours'), ['page'], 'its title is found');
});

test('SMOKE-7: titles to ask about are those of indexed sources in service, each once, oldest first', async (t) => {
  const { db, appId } = openApp(t, NOW);
  await add(db, appId, { key: 'b', title: 'Shipping' });
  await add(db, appId, { key: 'a', title: 'Returns', atMs: NOW + 1 });
  await add(db, appId, { key: 'c', title: 'Shipping', atMs: NOW + 2 });
  await upsert(db, appId, { key: 'd', title: 'Waiting', atMs: NOW + 3 });
  await add(db, appId, { key: 'e', title: 'Gone', atMs: NOW + 4 });
  await new StoredSources(db, NOW).archive(appId, 'e');
  assert.deepEqual(readIndexedTitles(db, appId, 5), ['Shipping', 'Returns']);
  assert.deepEqual(readIndexedTitles(db, appId, 1), ['Shipping']);
});

test('SETUP-45: sources to index are counted out by kind', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const { id: text } = await upsert(db, appId, { key: 'text' });
  const link = { sourceId: mintId('kno', NOW), appId, externalKey: 'link', kind: 'url', title: null, uri: 'https://a.example/' } as const;
  const { id: url } = await new StoredSources(db, NOW + 1).save({ ...link, content: null, origin: 'setup', reason: null });
  assert.deepEqual([sourcesToIndex(db, 10), sourcesToIndex(db, 10, 'text'), sourcesToIndex(db, 10, 'url')], [[text, url], [text], [url]]);
});

test('KNOWLEDGE-7: a crash while indexing resumes it', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const { id: sourceId } = await upsert(db, appId, { key: 'a', text: 'Zebra.' });
  const sources = new StoredSources(db, NOW);
  await sources.begin(sources.content(sourceId));
  assert.deepEqual(sourcesToIndex(db, 10), [sourceId]);
  // Begins again.
  assert.equal(await index(db, sourceId, [], 'Zebra.'), true);
  assert.deepEqual(sourcesToIndex(db, 10), []);
});

test('SEARCH-5: titles weigh more than headings, headings more than text, and a passage says where it is from', async (t) => {
  const { db, appId } = openApp(t, NOW);
  await add(db, appId, { key: 'text', title: 'Parcels', text: 'All about refunds and more words here.' });
  await add(db, appId, {
    key: 'heading',
    title: 'Orders',
    headings: ['Money', 'Refunds'],
    text: 'Other words entirely, just as many here.',
  });
  const id = await add(db, appId, {
    key: 'title',
    title: 'Refund policy',
    headings: ['Top'],
    text: 'Other words entirely, just as many here.',
  });
  for (let i = 0; i < 8; i++) await add(db, appId, { key: `other${i}`, title: 'Parking', text: 'Where cars may stand, and for how long.' });
  assert.deepEqual(keysFound(db, appId, 'How do I get a refund?'), ['title', 'heading', 'text']);
  const [best, second] = searchKnowledge(db, appId, 'refund', 2);
  assert.deepEqual([best?.sourceId, best?.title, best?.headings], [id, 'Refund policy', ['Top']]);
  assert.ok(best !== undefined && second !== undefined && best.score > second.score && second.score > 0);
});

test('KNOWLEDGE-6: one app never finds what another knows', async (t) => {
  const files = openFiles(t, NOW);
  const [mine, other] = [addApp(files, 'Mine', NOW), addApp(files, 'Other', NOW)];
  await add(files.db, mine, { key: 'mine', text: 'Zebra crossing.' });
  await add(files.db, other, { key: 'theirs', text: 'Zebra stripes.' });
  assert.deepEqual(keysFound(files.db, mine, 'zebra'), ['mine']);
  assert.deepEqual(keysFound(files.db, other, 'zebra stripes crossing'), ['theirs']);
  assert.deepEqual(keysFound(files.db, mine, `zebra" OR app_id:"${other.slice(4)}`), ['mine']);
});

test('SEARCH-6: a question of common words only finds the chunks that have them all', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const { id: sourceId } = await upsert(db, appId, { key: 'long', text: 'x' });
  // Both words are in more chunks than the search scores one by one; only one chunk has both.
  const chunks = Array.from({ length: 1_400 }, (_, ordinal) => ({
    ordinal,
    headings: [],
    text: ordinal === 900 ? 'delivery price' : `${ordinal % 2 === 0 ? 'delivery' : 'price'} number${ordinal}`,
  }));
  await new StoredSources(db, NOW).index(sourceId, chunks);
  assert.deepEqual(each(searchKnowledge(db, appId, 'What is the price of delivery?', 3), 'text'), ['delivery price']);
  assert.equal(searchKnowledge(db, appId, 'price', 3).length, 3);
  assert.deepEqual(each(searchKnowledge(db, appId, 'delivery number77', 1), 'text'), ['price number77']);
});

test('SEARCH-6: no text is query syntax: nothing throws, nothing of another app is found', async (t) => {
  const files = openFiles(t, NOW);
  const [mine, other] = [addApp(files, 'Mine', NOW), addApp(files, 'Other', NOW)];
  await add(files.db, mine, { key: 'mine', text: 'near and or not title text zebra' });
  await add(files.db, other, { key: 'theirs', text: 'near and or not title text zebra' });
  const syntax = fc.constantFrom(
    '"',
    "'",
    'AND',
    'OR',
    'NOT',
    'NEAR(',
    ')',
    '(',
    '*',
    '^',
    ':',
    '-',
    '+',
    '{title}',
    'app_id :',
    'zebra',
    '\0',
    ';--',
    '…',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(syntax, { maxLength: 30 }).map((parts) => parts.join(' ')),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (input) => {
      const found = searchKnowledge(files.db, mine, input, 5);
      assert.ok(found.every(({ externalKey }) => externalKey === 'mine'));
      if (/\bzebra\b/.test(input)) assert.equal(found.length, 1);
    }),
    { numRuns: 500 },
  );
});

test('SEARCH-4: stop words are dropped and the terms are bounded', () => {
  assert.deepEqual(queryTerms('How do I return the Réfund, the refund?'), ['return', 'réfund', 'refund']);
  assert.deepEqual(queryTerms('what is it'), []);
  assert.equal(queryTerms(Array.from({ length: 500 }, (_, i) => `word${i}`).join(' ')).length, QUERY_TERMS_MAX);
  assert.deepEqual(queryTerms('x'.repeat(5_000)), []);
});

test('SETUP-39: the sources of an origin are found however many others came before; archived ones are not', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const sources = new StoredSources(db, NOW);
  for (let n = 0; n < 50; n++) await upsert(db, appId, { key: `article-${n}`, atMs: NOW + n });
  for (const key of ['first', 'second', 'third']) {
    const source = { sourceId: mintId('kno', NOW + 100 + key.length), appId, externalKey: key, kind: 'url' as const, title: key };
    await sources.save({ ...source, uri: `https://shop.example/${key}`, content: null, origin: 'intake', reason: null });
  }
  await sources.archive(appId, 'second');
  const keys = (limit: number, origin: 'intake' | null) =>
    listSourcesInService(db, appId, limit, origin).map((source) => source.externalKey);
  assert.deepEqual(keys(20, 'intake').sort(), ['first', 'third']);
  assert.equal(keys(1, 'intake').length, 1);
  assert.equal(keys(100, null).length, 52);
  assert.equal(keys(2, null)[0], 'article-0');
});

test('MODEL-36: a sample of the knowledge has sources of its beginning, its middle and its end', async (t) => {
  const { db, appId } = openApp(t, NOW);
  for (let at = 0; at < 100; at++) await add(db, appId, { key: `s${at}`, text: `Text ${at}` });
  const numbers = sampleOfKnowledge(db, appId).map((text) => Number(text.slice(5)));
  const ranges = [0, 49, 80].flatMap((from) => Array.from({ length: 20 }, (_, at) => from + at));
  assert.deepEqual(
    numbers.sort((one, other) => one - other),
    ranges,
  );
});
