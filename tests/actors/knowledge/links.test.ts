import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveSource } from '../../../actors/knowledge/sources.ts';
import { createAddressGuard } from '../../../assistant/http/address-guard.ts';
import { createLinkReader } from '../../../assistant/knowledge/extraction.ts';
import { LinkError } from '../../../assistant/knowledge/link-error.ts';
import { readSourceContent } from '../../../storage/knowledge/knowledge.ts';
import { countKnowledge } from '../../../storage/knowledge/knowledge-overview.ts';
import { OPEN_GUARD, reply, startSite } from '../../assistant/knowledge/link-site.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { link, openFixture, playedReader, textItem } from './fixture.ts';

/** More than a busy machine needs. */
const WITHIN_MS = 60_000;

const PAGE = { title: 'Refund policy', text: '# Refunds\n\nA zebra is taken back within thirty days.' };

/** Runs `work` while the reader ends its next reading with the page. */
async function readAs<T>(reader: ReturnType<typeof playedReader>, found: typeof PAGE | Error, work: Promise<T>): Promise<T> {
  const reading = await reader.next();
  if (found instanceof Error) reading.reject(found);
  else reading.resolve(found);
  return work;
}

test('LINK-1: a link is fetched, read and indexed within the answer, and goes by the title of its page', async (t) => {
  const site = await startSite(t, (_req, res) =>
    reply(res, 'text/html', '<title>Refund policy</title><h1>Refunds</h1><p>A zebra is taken back.</p>'),
  );
  const fixture = await openFixture(t, createLinkReader({ guard: OPEN_GUARD }));
  const { created, results, note } = await fixture.send([link('refunds', { uri: `${site.url}/refunds` })]);
  const { id } = fixture.source('refunds');
  assert.deepEqual(results, [{ external_key: 'refunds', ok: true, op: 'created', id, status: 'indexed', chunks: 1 }]);
  assert.deepEqual([created, fixture.source('refunds').title, fixture.found('zebra')], [1, 'Refund policy', ['refunds']]);
  assert.doesNotMatch(note, /still being read/);
  // The sender has its answer before those who watch the app are told.
  await eventually(() => fixture.settled.length === 1);
  assert.deepEqual(fixture.settled, [[fixture.organisationId, fixture.appId]]);
});

test('LINK-3, LINK-7: a link goes through the guard, and says why it failed', async (t) => {
  const site = await startSite(t, (_req, res) => reply(res, 'text/plain', 'secret'));
  const fixture = await openFixture(t, createLinkReader({ guard: createAddressGuard({ allowPrivate: false }) }));
  const { created, failed, results, note } = await fixture.send([
    link('local', { uri: `${site.url}/` }),
    link('metadata', { uri: 'http://169.254.169.254/latest/meta-data' }),
  ]);
  assert.deepEqual([created, failed], [2, 0], 'they were saved: only their sources have failed');
  assert.deepEqual(
    results.map((result) => result.ok && [result.status, result.error]),
    ['local', 'metadata'].map((key) => ['failed', fixture.source(key).error]),
  );
  assert.match(note, /say why in error/);
  assert.equal(fixture.source('local').error, 'Only the ports 80 and 443 are read.');
  assert.match(fixture.source('metadata').error ?? '', /leads to a link-local address/);
  assert.equal(site.requests.length, 0);
});

test('SETUP-29: the note says that others were taken only when some were', async (t) => {
  const fixture = await openFixture(t, playedReader());
  const wrong = { external_key: 'wrong', kind: 'pdf' };
  const none = await fixture.send([wrong, { ...wrong, external_key: 'also wrong' }]);
  assert.deepEqual([none.failed, none.created], [2, 0]);
  assert.match(none.note, /^No item was taken\. Read results\[i\]\.error/);
  assert.doesNotMatch(none.note, /others were taken/);
  const some = await fixture.send([wrong, textItem('right', 'A zebra.')]);
  assert.deepEqual([some.failed, some.created], [1, 1]);
  assert.match(some.note, /the others were taken/);
  assert.match((await fixture.send([textItem('right', 'A zebra.')])).note, /^Every item was taken/);
});

test('LINK-1: a slow link is answered as it stands and indexed later', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  const { results, note } = await fixture.send([link('slow')], 20);
  const [result] = results;
  assert.ok(result?.ok);
  assert.deepEqual([result.op, result.chunks], ['created', 0]);
  // On a busy machine the answer may come before the reading has begun.
  assert.match(result.status ?? '', /^(?:pending|indexing)$/);
  assert.match(note, /still being read/);
  assert.equal(fixture.source('slow').title, 'https://shop.example/slow', 'until its title is known it goes by its address');
  assert.deepEqual(fixture.found('zebra'), []);
  (await reader.next()).resolve(PAGE);
  await fixture.rest(1);
  assert.deepEqual([fixture.source('slow').state, fixture.source('slow').title, fixture.found('zebra')], ['indexed', PAGE.title, ['slow']]);
});

test('KNOWLEDGE-2: text, links, refused and archived items of one request each have their own result', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await fixture.send([textItem('old', 'Old.')]);
  const sent = fixture.send([
    link('page'),
    textItem('text', 'A lion.'),
    link('bad', { uri: 'ftp://shop.example/' }),
    { external_key: 'old', op: 'archive' },
    link('content', { content: 'not with a link' }),
  ]);
  const report = await readAs(reader, PAGE, sent);
  assert.deepEqual([report.created, report.archived, report.failed, report.unchanged], [2, 1, 2, 0]);
  assert.deepEqual(
    report.results.map((result) => [result.external_key, result.ok ? result.status : /uri|content/.test(result.error)]),
    [
      ['page', 'indexed'],
      ['text', 'indexed'],
      ['bad', true],
      ['old', 'archived'],
      ['content', true],
    ],
  );
  await eventually(
    () => fixture.settled.length === 3,
    WITHIN_MS,
    () => `texts are settled too: ${fixture.settled.length} of 3`,
  );
});

test('LINK-2: a link that is indexed and sent again is fetched again; sent twice at once it is read once', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await readAs(reader, PAGE, fixture.send([link('page')]));
  const again = await readAs(reader, { title: 'Lions', text: 'A lion.' }, fixture.send([link('page'), link('page', { title: '  ' })]));
  assert.deepEqual(
    again.results.map((result) => result.ok && [result.op, result.status, result.chunks]),
    [
      ['updated', 'indexed', 1],
      ['unchanged', 'indexed', 1],
    ],
  );
  assert.equal(reader.asked.length, 2);
  assert.deepEqual([fixture.found('zebra'), fixture.found('lion')], [[], ['page']]);
});

test('LINK-1: a title that was sent stays, and another title or address is read again', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await readAs(reader, PAGE, fixture.send([link('page', { title: 'Ours' })]));
  assert.equal(fixture.source('page').title, 'Ours');
  const renamed = await readAs(reader, PAGE, fixture.send([link('page', { title: 'Ours, too' })]));
  assert.deepEqual([renamed.updated, fixture.source('page').title], [1, 'Ours, too']);
  const moved = await readAs(reader, { title: '', text: 'A lion.' }, fixture.send([link('page', { uri: 'https://shop.example/moved' })]));
  assert.deepEqual([moved.updated, fixture.source('page').title], [1, 'https://shop.example/moved']);
  assert.deepEqual([fixture.found('zebra'), fixture.found('lion')], [[], ['page']]);
});

test('LINK-3: a failed link says why, and the same item sent again is tried again', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await readAs(reader, new LinkError('The site answered with status 500.'), fixture.send([link('page')]));
  assert.deepEqual([fixture.source('page').state, fixture.source('page').error], ['failed', 'The site answered with status 500.']);
  await eventually(() => fixture.settled.length === 1);
  const again = await readAs(reader, PAGE, fixture.send([link('page')]));
  assert.deepEqual(
    again.results.map((result) => result.ok && [result.op, result.status]),
    [['updated', 'indexed']],
  );
  assert.deepEqual([fixture.source('page').error, fixture.found('zebra')], [null, ['page']]);
});

test('LINK-3: a bug in reading fails the source in words of ours and is logged', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await readAs(reader, new TypeError('x is not a function'), fixture.send([link('page')]));
  assert.deepEqual([fixture.source('page').state, fixture.source('page').error], ['failed', 'The document could not be read.']);
  assert.deepEqual(
    fixture.logged.map(({ message }) => message),
    ['reading a knowledge link failed because of a bug: its source is marked as failed'],
  );
});

test('LINK-2: what is read of an address that has been replaced meanwhile is dropped, and the new one is read', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await fixture.send([link('page')], 20);
  const updated = fixture.send([link('page', { uri: 'https://shop.example/new' })]);
  const old = await reader.next();
  await eventually(
    () => fixture.source('page').uri === 'https://shop.example/new',
    WITHIN_MS,
    () => `the address is ${fixture.source('page').uri}`,
  );
  old.resolve({ title: 'Old', text: 'An old lion.' });
  const report = await readAs(reader, PAGE, updated);
  assert.deepEqual(
    report.results.map((result) => result.ok && [result.op, result.status]),
    [['updated', 'indexed']],
  );
  assert.deepEqual([fixture.found('lion'), fixture.found('zebra'), fixture.source('page').title], [[], ['page'], PAGE.title]);
  await eventually(() => fixture.settled.length === 1);
});

test('KNOWLEDGE-5: a link that is archived while it is read stays out of every search', async (t) => {
  const reader = playedReader();
  const fixture = await openFixture(t, reader);
  await fixture.send([link('page')], 20);
  await fixture.send([{ external_key: 'page', op: 'archive' }]);
  (await reader.next()).resolve(PAGE);
  await fixture.send([textItem('after', 'A lion.')]);
  assert.deepEqual([fixture.found('zebra'), fixture.source('page').chunks], [[], 0]);
  const back = await readAs(reader, PAGE, fixture.send([link('page')]));
  assert.deepEqual(
    back.results.map((result) => result.ok && [result.op, result.status]),
    [['updated', 'indexed']],
  );
});

test('KNOWLEDGE-7: what a stop cut off is read again after the next start, which does not wait for it', async (t) => {
  const dataDir = temporaryDir(t);
  const first = playedReader();
  const before = await openFixture(t, first, { dataDir });
  await before.send([link('one'), link('two'), textItem('text', 'A lion.')], 20);
  await first.next();
  await before.indexer.close();
  assert.equal(first.open.length, 0, 'what was being read was cut off');
  assert.deepEqual([before.source('one').state, before.source('two').state], ['indexing', 'indexing']);
  await before.storage.close();

  const second = playedReader();
  const after = await openFixture(t, second, { dataDir, ids: before });
  assert.equal(await after.indexer.resume(after.organisationId), 0, 'no text waited');
  assert.deepEqual([after.source('one').state, after.source('one').chunks], ['indexing', 0]);
  (await second.next()).resolve(PAGE);
  (await second.next()).resolve(PAGE);
  await after.rest(2);
  assert.deepEqual(after.found('zebra').sort(), ['one', 'two']);
  const { indexed, pending, indexing } = countKnowledge(after.storage.organisation(after.organisationId), after.appId);
  assert.deepEqual([indexed, pending, indexing], [3, 0, 0]);
  assert.equal(readSourceContent(after.storage.organisation(after.organisationId), after.source('one').id), PAGE.text);
});

test('KNOWLEDGE-7: a text that a crash left waiting is indexed before resuming resolves', async (t) => {
  const dataDir = temporaryDir(t);
  const before = await openFixture(t, playedReader(), { dataDir });
  await before.send([textItem('text', 'A lion.')]);
  const { id, contentHash } = before.source('text');
  const input = {
    appId: before.appId,
    externalKey: 'text',
    kind: 'text',
    title: 'text',
    uri: null,
    content: 'A zebra.',
    origin: 'setup',
  } as const;
  await saveSource(before.storage, before.organisationId, { ...input, sourceId: id, reason: null, nowMs: 1 });
  assert.notEqual(before.source('text').contentHash, contentHash);
  await before.indexer.close();
  await before.storage.close();
  const after = await openFixture(t, playedReader(), { dataDir, ids: before });
  assert.equal(await after.indexer.resume(after.organisationId), 1);
  assert.deepEqual([after.found('zebra'), after.settled.length], [['text'], 1]);
});

test('LINK-4: whoever is told that a source is at rest cannot harm it', async (t) => {
  const fixture = await openFixture(t, playedReader(), {
    onSettled() {
      throw new Error('not now');
    },
  });
  const { created } = await fixture.send([textItem('text', 'A lion.')]);
  assert.deepEqual([created, fixture.found('lion'), fixture.logged.length], [1, ['text'], 1]);
});
