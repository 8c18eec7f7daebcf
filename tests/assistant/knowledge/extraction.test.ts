/** Documents are read where they can do no harm, and what is too much for its parser says so. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ExtractedText } from '../../../assistant/knowledge/extract-text.ts';
import { extractDocument } from '../../../assistant/knowledge/extraction.ts';
import type { LinkMediaType } from '../../../assistant/knowledge/fetch-link.ts';
import { LinkError } from '../../../assistant/knowledge/link-error.ts';
import { type ParseOptions, Parsers } from '../../../assistant/parsers/parsers.ts';
import { eventually } from '../../support/eventually.ts';
import { HOSTILE_PAGES, makePdf } from './documents.ts';

const parsers = new Parsers({ parsers: 1 });
after(() => parsers.close());

/** On a machine that runs many tests at once. */
const GENEROUS_MS = 60_000;

function extract(
  mediaType: LinkMediaType,
  body: string | Uint8Array,
  options: Partial<ParseOptions> = {},
  by = parsers,
): Promise<ExtractedText> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const load = () => bytes;
  const type = { mediaType, charset: undefined };
  return extractDocument(by, type, load, { asker: 'org_1', inBackground: false, timeoutMs: GENEROUS_MS, ...options });
}

/** Nests so deep that building it takes minutes. */
const ENDLESS = '<div>'.repeat(200_000);

test('KNOWLEDGE-15: every type is read in a parser as it is outside one', async () => {
  const page = '<title>Refunds</title><h2>When</h2><p>Thirty days.</p>';
  assert.deepEqual(await extract('text/html', page), { title: 'Refunds', text: '## When\n\nThirty days.' });
  assert.equal((await extract('application/pdf', makePdf([['One page.']]))).text, 'One page.');
  assert.equal((await extract('application/json', '{"a":1}')).text, '```json\n{\n  "a": 1\n}\n```');
  assert.equal((await extract('text/plain', 'Plain.')).text, 'Plain.');
  await assert.rejects(extract('text/plain', ' '), /^LinkError: The document has no text that could be read\.$/);
  assert.equal(parsers.processes, 1);
});

test('KNOWLEDGE-14: hostile pages end in text or in a sentence', async () => {
  const outcomes: string[] = [];
  for (const [name, html] of Object.entries(HOSTILE_PAGES)) {
    const outcome = await extract('text/html', `<p>needle</p>${html}`).catch((error: unknown) => error);
    if (!(outcome instanceof LinkError)) assert.ok((outcome as { text: string }).text.includes('needle'), name);
    outcomes.push(outcome instanceof LinkError ? 'refused' : 'read');
  }
  assert.ok(outcomes.includes('read'));
});

test('KNOWLEDGE-15: a document that takes too long fails alone, and those behind it wait their turn', async () => {
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  await Promise.all([
    assert
      .rejects(extract('text/html', ENDLESS, { timeoutMs: 1_000 }), {
        name: 'LinkError',
        message: 'The document is too complicated: reading it took too long.',
      })
      .then(note('endless')),
    extract('text/plain', 'One.').then(note('one')),
    extract('text/plain', 'Two.').then(note('two')),
  ]);
  assert.deepEqual(order, ['endless', 'one', 'two']);
});

test('KNOWLEDGE-16: a caller who gives up ends the parser and gets its own reason', { timeout: GENEROUS_MS }, async (t) => {
  // Nothing else ends it.
  const patient = new Parsers({ parsers: 1, limits: { heapMaxMb: 256, dataMaxMb: 512, cpuMaxS: 3_600 } });
  t.after(() => patient.close());
  const gaveUp = new AbortController();
  const options = { signal: gaveUp.signal, timeoutMs: 10 * GENEROUS_MS };
  const reading = extract('text/html', ENDLESS, options, patient);
  const waiting = extract('text/html', ENDLESS, options, patient);
  const next = extract('text/plain', 'Next.', { signal: new AbortController().signal }, patient);
  await eventually(() => patient.processes === 1);
  gaveUp.abort(new Error('the service stops'));
  await assert.rejects(reading, /^Error: the service stops$/);
  await assert.rejects(waiting, /^Error: the service stops$/);
  assert.equal((await next).text, 'Next.');
  await assert.rejects(extract('text/html', ENDLESS, options, patient), /^Error: the service stops$/);
});
