import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { createExtraction } from '../../../src/assistant/knowledge/extraction.ts';
import type { LinkMediaType } from '../../../src/assistant/knowledge/fetch-link.ts';
import { LinkError } from '../../../src/assistant/knowledge/link-error.ts';
import { HOSTILE_PAGES, makePdf } from './documents.ts';

function document(mediaType: LinkMediaType, body: string | Uint8Array) {
  return { mediaType, charset: undefined, bytes: typeof body === 'string' ? Buffer.from(body) : body };
}

/** Nests so deep that building it takes minutes. */
const ENDLESS = document('text/html', '<div>'.repeat(200_000));

test('Knowledge: every type is read in a thread as it is outside one', async () => {
  const extraction = createExtraction();
  const page = document('text/html', '<title>Refunds</title><h2>When</h2><p>Thirty days.</p>');
  assert.deepEqual(await extraction.extract(page), { title: 'Refunds', text: '## When\n\nThirty days.' });
  assert.equal((await extraction.extract(document('application/pdf', makePdf([['One page.']])))).text, 'One page.');
  assert.equal((await extraction.extract(document('text/plain', 'Plain.'))).text, 'Plain.');
  await assert.rejects(extraction.extract(document('text/plain', ' ')), /^LinkError: The document has no text that could be read\.$/);
});

test('Knowledge: hostile pages end in text or in a sentence, and keep nobody waiting meanwhile', async () => {
  const extraction = createExtraction({ timeoutMs: 20_000 });
  let beats = 0;
  const heart = setInterval(() => {
    beats += 1;
  }, 20);
  const outcomes: string[] = [];
  for (const [name, html] of Object.entries(HOSTILE_PAGES)) {
    const outcome = await extraction.extract(document('text/html', `<p>needle</p>${html}`)).catch((error: unknown) => error);
    if (!(outcome instanceof LinkError)) assert.ok((outcome as { text: string }).text.includes('needle'), name);
    outcomes.push(outcome instanceof LinkError ? 'refused' : 'read');
  }
  clearInterval(heart);
  assert.ok(outcomes.includes('read'));
  assert.ok(beats > outcomes.length, 'the event loop went on');
});

test('Knowledge: a document that takes too long fails alone', async () => {
  const extraction = createExtraction({ timeoutMs: 1_500 });
  const [endless, plain] = await Promise.allSettled([extraction.extract(ENDLESS), extraction.extract(document('text/plain', 'Fine.'))]);
  assert.match(
    String(endless.status === 'rejected' && endless.reason),
    /^LinkError: The document is too complicated: reading it took too long\.$/,
  );
  assert.deepEqual(plain, { status: 'fulfilled', value: { title: '', text: 'Fine.' } });
});

test('Knowledge: a document that takes too much memory fails alone', async () => {
  const extraction = createExtraction({ heapMaxMb: 40, timeoutMs: 60_000 });
  const many = document('text/html', '<b>x</b>'.repeat(600_000));
  await assert.rejects(extraction.extract(many), /^LinkError: The document is too complicated: reading it took too much memory\.$/);
  assert.equal((await extraction.extract(document('text/plain', 'Fine.'))).text, 'Fine.');
});

test('Knowledge: a small PDF that unfolds to more than the process can take fails alone', async () => {
  const data = deflateSync(Buffer.alloc(256 * 1024 * 1024, ' '), { level: 1 });
  const bytes = makePdf([[]], { stream: { filter: 'FlateDecode', data } });
  const extraction = createExtraction({ growthMaxMb: 150, timeoutMs: 60_000 });
  await assert.rejects(
    extraction.extract(document('application/pdf', bytes)),
    /^LinkError: The document is too complicated: reading it took too much memory\.$/,
  );
  assert.equal((await extraction.extract(document('text/plain', 'Fine.'))).text, 'Fine.');
});

test('Knowledge: as many documents as there are threads are read at once, the others wait their turn', async () => {
  const extraction = createExtraction({ threads: 1, timeoutMs: 1_500 });
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  await Promise.all([
    extraction.extract(ENDLESS).catch(note('endless')),
    extraction.extract(document('text/plain', 'One.')).then(note('one')),
    extraction.extract(document('text/plain', 'Two.')).then(note('two')),
  ]);
  assert.deepEqual(order, ['endless', 'one', 'two']);
});

test('Knowledge: a caller who gives up ends the thread and gets its own reason', async () => {
  const extraction = createExtraction({ threads: 1, timeoutMs: 60_000 });
  const gaveUp = new AbortController();
  const reading = extraction.extract(ENDLESS, gaveUp.signal);
  const next = extraction.extract(document('text/plain', 'Next.'), new AbortController().signal);
  gaveUp.abort(new Error('the service stops'));
  await assert.rejects(reading, /^Error: the service stops$/);
  assert.equal((await next).text, 'Next.');
  await assert.rejects(extraction.extract(ENDLESS, gaveUp.signal), /^Error: the service stops$/);
});
