import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { mintId } from '../../../protocol/ids.ts';
import { readSource, readSourceContent, SOURCES_PER_APP_MAX, transactions } from '../../../storage/knowledge/knowledge.ts';
import {
  countKnowledge,
  listSources,
  listSourcesInService,
  readIndexedTitles,
  sourcesToIndex,
} from '../../../storage/knowledge/knowledge-overview.ts';
import { QUERY_TERMS_MAX, queryTerms } from '../../../storage/knowledge/knowledge-query.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

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
  return transactions.upsertSource(db, {
    sourceId: mintId('kno', article.atMs ?? NOW),
    appId,
    externalKey: article.key,
    kind: 'text',
    title: article.title ?? 'An article',
    uri: null,
    content: article.content ?? article.text ?? 'Content.',
    origin: 'console',
    reason: null,
    nowMs: NOW,
  });
}

function index(db: Connection, sourceId: string, headings: readonly string[], text: string): boolean {
  const contentHash = readSource(db, sourceId)?.contentHash ?? '';
  transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW });
  return transactions.replaceChunks(db, { sourceId, contentHash, nowMs: NOW, chunks: [{ ordinal: 0, headings, text }] });
}

function add(db: Connection, appId: string, article: Article): string {
  const { id } = upsert(db, appId, article);
  assert.equal(index(db, id, article.headings ?? [], article.text ?? 'Content.'), true);
  return id;
}

function keysFound(db: Connection, appId: string, text: string): string[] {
  return searchKnowledge(db, appId, text, 10).map(({ externalKey }) => externalKey);
}

function oneApp(t: TestContext): { db: Connection; appId: string } {
  const files = openFiles(t, NOW);
  return { db: files.db, appId: addApp(files, 'Shop', NOW) };
}

test('KNOWLEDGE-1: a key sent again updates its source; identical content is unchanged and stays indexed', (t) => {
  const { db, appId } = oneApp(t);
  const id = add(db, appId, { key: 'returns', text: 'Thirty days.' });
  assert.deepEqual(upsert(db, appId, { key: 'returns', text: 'Thirty days.' }), { op: 'unchanged', id });
  assert.equal(readSource(db, id)?.state, 'indexed');
  assert.deepEqual(upsert(db, appId, { key: 'returns', text: 'Sixty days.' }), { op: 'updated', id });
  assert.equal(readSource(db, id)?.state, 'pending');
  assert.equal(readSourceContent(db, id), 'Sixty days.');
  assert.equal(listSources(db, appId, '', 10).length, 1);
});

test('KNOWLEDGE-6: what is pending, failed or archived is found by no search', (t) => {
  const { db, appId } = oneApp(t);
  const ids = ['indexed', 'pending', 'failed', 'archived'].map((key) => add(db, appId, { key, text: `Zebra ${key}.` }));
  assert.deepEqual(keysFound(db, appId, 'zebra').sort(), ['archived', 'failed', 'indexed', 'pending']);
  upsert(db, appId, { key: 'pending', text: 'Zebra changed.' });
  upsert(db, appId, { key: 'failed', text: 'Zebra broken.' });
  const contentHash = readSource(db, ids[2] ?? '')?.contentHash ?? '';
  assert.equal(transactions.failSource(db, { sourceId: ids[2] ?? '', contentHash, nowMs: NOW, error: 'No.' }), true);
  transactions.archiveSource(db, { appId, externalKey: 'archived', nowMs: NOW });
  assert.deepEqual(keysFound(db, appId, 'zebra'), ['indexed']);
  assert.deepEqual(countKnowledge(db, appId), { sources: 3, indexed: 1, pending: 1, indexing: 0, failed: 1, chunks: 1 });
});

test('KNOWLEDGE-5: archiving keeps the source, and the same content sent again brings it back', (t) => {
  const { db, appId } = oneApp(t);
  const id = add(db, appId, { key: 'a', text: 'Zebra.' });
  assert.deepEqual(transactions.archiveSource(db, { appId, externalKey: 'a', nowMs: NOW }), { id });
  assert.deepEqual(transactions.archiveSource(db, { appId, externalKey: 'a', nowMs: NOW + 1 }), { id });
  assert.equal(readSource(db, id)?.archivedAtMs, NOW);
  assert.deepEqual(sourcesToIndex(db, 10), []);
  assert.equal(upsert(db, appId, { key: 'a', text: 'Zebra.' }).op, 'updated');
  assert.equal(index(db, id, [], 'Zebra.'), true);
  assert.deepEqual(keysFound(db, appId, 'zebra'), ['a']);
  assert.equal(transactions.archiveSource(db, { appId, externalKey: 'nothing', nowMs: NOW }), undefined);
});

test('KNOWLEDGE-9: the reason of an archived item is kept; without one the source keeps the reason it was written with', (t) => {
  const { db, appId } = oneApp(t);
  const id = add(db, appId, { key: 'a' });
  transactions.archiveSource(db, { appId, externalKey: 'a', reason: 'Out of date.', nowMs: NOW });
  assert.equal(readSource(db, id)?.reason, 'Out of date.');
  const input = { sourceId: 'kno_b', appId, externalKey: 'b', kind: 'text' as const, title: 'B', uri: null, content: 'B.' };
  transactions.upsertSource(db, { ...input, origin: 'setup', reason: 'From docs/b.md.', nowMs: NOW });
  transactions.archiveSource(db, { appId, externalKey: 'b', nowMs: NOW });
  assert.equal(readSource(db, 'kno_b')?.reason, 'From docs/b.md.');
});

test('KNOWLEDGE-10: an app takes 10,000 sources, archived ones included, and no more; what it has can still be changed', (t) => {
  const { db, appId } = oneApp(t);
  upsert(db, appId, { key: 'first' });
  // The others at once: each by itself would take seconds.
  db.statement(
    `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < :many)
     INSERT INTO knowledge_sources (id, app_id, external_key, kind, title, content, content_hash, state, archived_at_ms, origin, created_at_ms, updated_at_ms)
     SELECT 'kno_' || i, app_id, 'key ' || i, kind, title, content, content_hash, 'indexed', :nowMs, origin, created_at_ms, updated_at_ms
     FROM n, knowledge_sources WHERE external_key = 'first'`,
  ).run({ many: SOURCES_PER_APP_MAX, nowMs: NOW });
  assert.throws(() => upsert(db, appId, { key: 'one more' }), { code: 'conflict', message: /at most 10000 knowledge sources/ });
  assert.equal(upsert(db, appId, { key: 'first', content: 'Other content.' }).op, 'updated');
});

test('KNOWLEDGE-3: an indexer that is late changes nothing', (t) => {
  const { db, appId } = oneApp(t);
  const { id: sourceId } = upsert(db, appId, { key: 'a', text: 'Old.' });
  const contentHash = readSource(db, sourceId)?.contentHash ?? '';
  assert.equal(transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW }), 'begun');
  upsert(db, appId, { key: 'a', text: 'New.' });
  const chunks = [{ ordinal: 0, headings: [], text: 'Old.' }];
  assert.equal(transactions.replaceChunks(db, { sourceId, contentHash, nowMs: NOW, chunks }), false);
  assert.equal(transactions.failSource(db, { sourceId, contentHash, nowMs: NOW, error: 'No.' }), false);
  assert.equal(transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW }), 'settled');
  assert.deepEqual([readSource(db, sourceId)?.state, readSource(db, sourceId)?.chunks], ['pending', 0]);
});

test('LINK-2: what a link led to is stored with its chunks at once, or not at all when it is late', (t) => {
  const { db, appId } = oneApp(t);
  const send = (uri: string, title: string | null) =>
    transactions.upsertSource(db, {
      ...{ sourceId: mintId('kno', NOW), appId, externalKey: 'page', kind: 'url', title, uri, content: null },
      ...{ origin: 'setup', reason: null, nowMs: NOW },
    });
  const fetched = (contentHash: string, title: string) =>
    transactions.indexFetched(db, {
      ...{ sourceId, contentHash, nowMs: NOW, title, content: 'A zebra.' },
      chunks: [{ ordinal: 0, headings: [], text: 'A zebra.' }],
    });
  const begin = () => {
    const contentHash = readSource(db, sourceId)?.contentHash ?? '';
    assert.equal(transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW }), 'begun');
    return contentHash;
  };
  const { id: sourceId } = send('https://shop.example/one', null);
  assert.equal(readSource(db, sourceId)?.title, 'https://shop.example/one');
  const old = begin();
  assert.equal(send('https://shop.example/two', null).op, 'updated');
  assert.equal(fetched(old, 'Old'), false);
  assert.deepEqual([readSourceContent(db, sourceId), keysFound(db, appId, 'zebra')], [null, []]);
  assert.equal(fetched(begin(), 'New'), true);
  assert.deepEqual([readSource(db, sourceId)?.title, readSourceContent(db, sourceId)], ['New', 'A zebra.']);
  assert.equal(send('https://shop.example/two', null).op, 'updated', 'sent again, it is fetched again');
  assert.equal(send('https://shop.example/two', null).op, 'unchanged', 'it waits to be fetched already');
  assert.equal(fetched(begin(), 'New'), true);
  assert.equal(send('https://shop.example/two', 'Ours').op, 'updated');
  assert.equal(readSourceContent(db, sourceId), null);
  assert.equal(fetched(begin(), 'New'), true);
  assert.equal(readSource(db, sourceId)?.title, 'Ours');
  assert.deepEqual(keysFound(db, appId, 'ours'), ['page'], 'its title is found');
});

test('SMOKE-7: titles to ask about are those of indexed sources in service, each once, oldest first', (t) => {
  const { db, appId } = oneApp(t);
  add(db, appId, { key: 'b', title: 'Shipping' });
  add(db, appId, { key: 'a', title: 'Returns', atMs: NOW + 1 });
  add(db, appId, { key: 'c', title: 'Shipping', atMs: NOW + 2 });
  upsert(db, appId, { key: 'd', title: 'Waiting', atMs: NOW + 3 });
  add(db, appId, { key: 'e', title: 'Gone', atMs: NOW + 4 });
  transactions.archiveSource(db, { appId, externalKey: 'e', nowMs: NOW });
  assert.deepEqual(readIndexedTitles(db, appId, 5), ['Shipping', 'Returns']);
  assert.deepEqual(readIndexedTitles(db, appId, 1), ['Shipping']);
});

test('SETUP-45: sources to index are counted out by kind', (t) => {
  const { db, appId } = oneApp(t);
  const { id: text } = upsert(db, appId, { key: 'text' });
  const link = { sourceId: mintId('kno', NOW), appId, externalKey: 'link', kind: 'url', title: null, uri: 'https://a.example/' } as const;
  const { id: url } = transactions.upsertSource(db, { ...link, content: null, origin: 'setup', reason: null, nowMs: NOW + 1 });
  assert.deepEqual([sourcesToIndex(db, 10), sourcesToIndex(db, 10, 'text'), sourcesToIndex(db, 10, 'url')], [[text, url], [text], [url]]);
});

test('KNOWLEDGE-7: a crash while indexing resumes it', (t) => {
  const { db, appId } = oneApp(t);
  const { id: sourceId } = upsert(db, appId, { key: 'a', text: 'Zebra.' });
  const contentHash = readSource(db, sourceId)?.contentHash ?? '';
  transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW });
  assert.deepEqual(sourcesToIndex(db, 10), [sourceId]);
  // Begins again.
  assert.equal(index(db, sourceId, [], 'Zebra.'), true);
  assert.deepEqual(sourcesToIndex(db, 10), []);
});

test('SEARCH-5: titles weigh more than headings, headings more than text, and a passage says where it is from', (t) => {
  const { db, appId } = oneApp(t);
  add(db, appId, { key: 'text', title: 'Parcels', text: 'All about refunds and more words here.' });
  add(db, appId, { key: 'heading', title: 'Orders', headings: ['Money', 'Refunds'], text: 'Other words entirely, just as many here.' });
  const id = add(db, appId, { key: 'title', title: 'Refund policy', headings: ['Top'], text: 'Other words entirely, just as many here.' });
  for (let i = 0; i < 8; i++) add(db, appId, { key: `other${i}`, title: 'Parking', text: 'Where cars may stand, and for how long.' });
  assert.deepEqual(keysFound(db, appId, 'How do I get a refund?'), ['title', 'heading', 'text']);
  const [best, second] = searchKnowledge(db, appId, 'refund', 2);
  assert.deepEqual([best?.sourceId, best?.title, best?.headings], [id, 'Refund policy', ['Top']]);
  assert.ok(best !== undefined && second !== undefined && best.score > second.score && second.score > 0);
});

test('KNOWLEDGE-6: one app never finds what another knows', (t) => {
  const files = openFiles(t, NOW);
  const [mine, other] = [addApp(files, 'Mine', NOW), addApp(files, 'Other', NOW)];
  add(files.db, mine, { key: 'mine', text: 'Zebra crossing.' });
  add(files.db, other, { key: 'theirs', text: 'Zebra stripes.' });
  assert.deepEqual(keysFound(files.db, mine, 'zebra'), ['mine']);
  assert.deepEqual(keysFound(files.db, other, 'zebra stripes crossing'), ['theirs']);
  assert.deepEqual(keysFound(files.db, mine, `zebra" OR app_id:"${other.slice(4)}`), ['mine']);
});

test('SEARCH-6: a question of common words only finds the chunks that have them all', (t) => {
  const { db, appId } = oneApp(t);
  const { id: sourceId } = upsert(db, appId, { key: 'long', text: 'x' });
  const contentHash = readSource(db, sourceId)?.contentHash ?? '';
  transactions.beginIndexing(db, { sourceId, contentHash, nowMs: NOW });
  // Both words are in more chunks than the search scores one by one; only one chunk has both.
  const chunks = Array.from({ length: 1_400 }, (_, ordinal) => ({
    ordinal,
    headings: [],
    text: ordinal === 900 ? 'delivery price' : `${ordinal % 2 === 0 ? 'delivery' : 'price'} number${ordinal}`,
  }));
  transactions.replaceChunks(db, { sourceId, contentHash, nowMs: NOW, chunks });
  assert.deepEqual(
    searchKnowledge(db, appId, 'What is the price of delivery?', 3).map(({ text }) => text),
    ['delivery price'],
  );
  assert.equal(searchKnowledge(db, appId, 'price', 3).length, 3);
  assert.deepEqual(
    searchKnowledge(db, appId, 'delivery number77', 1).map(({ text }) => text),
    ['price number77'],
  );
});

test('SEARCH-6: no text is query syntax: nothing throws, nothing of another app is found', (t) => {
  const files = openFiles(t, NOW);
  const [mine, other] = [addApp(files, 'Mine', NOW), addApp(files, 'Other', NOW)];
  add(files.db, mine, { key: 'mine', text: 'near and or not title text zebra' });
  add(files.db, other, { key: 'theirs', text: 'near and or not title text zebra' });
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

test('SETUP-39: the sources of an origin are found however many others came before; archived ones are not', (t) => {
  const { db, appId } = oneApp(t);
  for (let n = 0; n < 50; n++) upsert(db, appId, { key: `article-${n}`, atMs: NOW + n });
  for (const key of ['first', 'second', 'third']) {
    const source = { sourceId: mintId('kno', NOW + 100 + key.length), appId, externalKey: key, kind: 'url' as const, title: key };
    transactions.upsertSource(db, {
      ...source,
      uri: `https://shop.example/${key}`,
      content: null,
      origin: 'intake',
      reason: null,
      nowMs: NOW,
    });
  }
  transactions.archiveSource(db, { appId, externalKey: 'second', nowMs: NOW });
  const keys = (limit: number, origin: 'intake' | null) =>
    listSourcesInService(db, appId, limit, origin).map((source) => source.externalKey);
  assert.deepEqual(keys(20, 'intake').sort(), ['first', 'third']);
  assert.equal(keys(1, 'intake').length, 1);
  assert.equal(keys(100, null).length, 52);
  assert.equal(keys(2, null)[0], 'article-0');
});
