/** Proves how documents are cut: bounded, along their structure, nothing lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CHUNK_MAX_CHARS, CHUNK_TARGET_CHARS, type Chunk, chunkText } from '../../../assistant/knowledge/chunk.ts';
import { KNOWLEDGE_TEXT_MAX_CHARS } from '../../../protocol/limits.ts';

const squeezed = (text: string) => text.replace(/\s+/g, '');

/** The document as its chunks tell it: each heading where it first comes into force, and the texts. */
function retold(chunks: readonly Chunk[]): string {
  let path: readonly string[] = [];
  let text = '';
  for (const chunk of chunks) {
    const shared = chunk.headings.findIndex((heading, i) => heading !== path[i]);
    text += (shared === -1 ? [] : chunk.headings.slice(shared)).join('') + chunk.text;
    path = chunk.headings;
  }
  return squeezed(text);
}

const repeated = (sentence: string, chars: number) => sentence.repeat(Math.ceil(chars / sentence.length)).trim();
const ENDS = 'The parcel leaves our house within one day. ';

test('SEARCH-1: a blank text has no chunks', () => {
  assert.deepEqual(chunkText(' \n\t\r\n '), []);
});

test('SEARCH-2: headings (ATX and setext) become the path of what is below them and are no text', () => {
  const chunks = chunkText(
    'Intro.\n\n# Shop #\n\nAbout.\n\n## Returns\nThirty days.\n\nDelivery\n--------\nTwo days.\n\nImprint\n===\nUs.\n',
  );
  assert.deepEqual(chunks, [
    { ordinal: 0, headings: [], text: 'Intro.' },
    { ordinal: 1, headings: ['Shop'], text: 'About.' },
    { ordinal: 2, headings: ['Shop', 'Returns'], text: 'Thirty days.' },
    { ordinal: 3, headings: ['Shop', 'Delivery'], text: 'Two days.' },
    { ordinal: 4, headings: ['Imprint'], text: 'Us.' },
  ]);
});

test('SEARCH-2: a heading with nothing below it stays in the text', () => {
  assert.deepEqual(
    chunkText('# A\n## B\n# C\ntext').map(({ headings, text }) => [headings, text]),
    [
      [['A'], '## B'],
      [['C'], 'text'],
    ],
  );
});

test('SEARCH-2: two sections of one name stay two chunks', () => {
  assert.deepEqual(
    chunkText('# A\none\n# A\ntwo').map(({ text }) => text),
    ['one', 'two'],
  );
});

test('SEARCH-1: fenced code is kept whole when it fits, and what looks like a heading in it is code', () => {
  const code = `\`\`\`sh\n${repeated('# not a heading\nrun --fast\n\n', 1_300)}\n\`\`\``;
  const chunks = chunkText(`# Setup\n\n${repeated(ENDS, 800)}\n\n${code}\n\n${repeated(ENDS, 800)}`);
  assert.ok(chunks.some(({ text }) => text === code));
  assert.ok(chunks.every(({ headings }) => headings.join() === 'Setup'));
});

test('SEARCH-1: fenced code that does not fit is cut between lines', () => {
  const lines = Array.from({ length: 200 }, (_, i) => `const value${i} = compute(${i});`);
  const chunks = chunkText(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``);
  assert.ok(chunks.length > 1);
  assert.deepEqual(
    chunks.flatMap(({ text }) => text.split('\n')).filter((line) => line !== '' && !line.startsWith('```')),
    lines,
  );
});

test('SEARCH-1: a long list is cut between items, a long table between rows', () => {
  const items = Array.from({ length: 60 }, (_, i) => `- item ${i} says\n  ${'more '.repeat(10)}of it`);
  for (const { text } of chunkText(items.join('\n'))) assert.match(text, /^- item \d+[\s\S]*of it$/);
  const rows = Array.from({ length: 90 }, (_, i) => `| row ${i} | ${'cell '.repeat(8)}|`);
  for (const { text } of chunkText(rows.join('\n'))) assert.match(text, /^\|[\s\S]*\|$/);
});

test('SEARCH-1: sentences are never cut, unless one exceeds the maximum by itself', () => {
  const sentence = 'Mr. Smith, e.g. at 3.5 km, waits for the bus no. 7 until it comes. ';
  const chunks = chunkText(repeated(sentence, 8_000));
  assert.ok(chunks.length >= 8);
  for (const { text } of chunks) assert.ok(`${text} `.endsWith(sentence) && text.startsWith('Mr. Smith'), text);
  const [first, ...rest] = chunkText(`${'word '.repeat(1_000)}end.`);
  assert.ok(rest.length > 2);
  assert.match(first?.text ?? '', /^(?:word )*word$/);
});

test('SEARCH-1: a short introduction stays with what it introduces, and chunks come near the target', () => {
  const chunks = chunkText(
    `The steps:\n\n${Array.from({ length: 25 }, (_, i) => `${i + 1}. Turn screw number ${i} to the left.`).join('\n')}`,
  );
  assert.equal(chunks.length, 1);
  const sizes = chunkText(Array.from({ length: 200 }, () => repeated(ENDS, 170)).join('\n\n')).map(({ text }) => text.length);
  assert.ok(sizes.slice(0, -1).every((size) => size > CHUNK_TARGET_CHARS / 2 && size <= CHUNK_TARGET_CHARS));
});

const word = fc.constantFrom(
  'parcel',
  'Rückgabe',
  '返品',
  '🎁',
  'e.g.',
  '3.5',
  '**bold**',
  'a|b',
  '`x`',
  'supercalifragilistic',
  '—',
  'No.',
);
const prose = fc.array(word, { minLength: 1, maxLength: 400 }).map((words) => `P ${words.join(' ')}.`);
const block = fc.oneof(
  prose,
  fc.array(prose, { minLength: 1, maxLength: 12 }).map((items) => items.map((item) => `- ${item.slice(0, 300)}`).join('\n')),
  fc.array(word, { minLength: 1, maxLength: 300 }).map((words) => `| ${words.join(' |\n| ')} |`),
  fc.array(word, { minLength: 1, maxLength: 300 }).map((words) => `~~~\n${words.join('\n')}\n\n~~~`),
);
const section = fc.record({ level: fc.integer({ min: 1, max: 6 }), blocks: fc.array(block, { minLength: 1, maxLength: 4 }) });

test('SEARCH-1, SEARCH-2: nothing is lost or doubled, headings live in headings, every chunk keeps to the maximum', () => {
  fc.assert(
    fc.property(fc.array(section, { maxLength: 6 }), fc.constantFrom('\n', '\r\n'), (sections, eol) => {
      const parts = sections.map(({ level, blocks }, i) => ({ mark: '#'.repeat(level), title: `Heading ${i}`, blocks }));
      const source = parts.map(({ mark, title, blocks }) => [`${mark} ${title}`, ...blocks].join('\n\n')).join('\n\n');
      const chunks = chunkText(source.replaceAll('\n', eol));
      assert.equal(retold(chunks), squeezed(parts.map(({ title, blocks }) => title + blocks.join('')).join('')));
      for (const [ordinal, chunk] of chunks.entries()) {
        assert.equal(chunk.ordinal, ordinal);
        assert.ok(chunk.text.length <= CHUNK_MAX_CHARS && chunk.text.trim() !== '');
      }
    }),
    { numRuns: 150 },
  );
});

test('SEARCH-1: any text without headings comes back modulo blank space, with any bounds', () => {
  const pieces = fc.constantFrom(
    'a',
    'Bc. ',
    '\n',
    '\n\n',
    '- y',
    '1. ',
    '```',
    '~~~\n',
    '| x |',
    '    ',
    '🎁',
    '。',
    '!',
    '\t',
    '\r\n',
    '> ',
    '*',
    '\u2028',
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 300 }),
      fc.integer({ min: 2, max: 200 }),
      fc.integer({ min: 2, max: 80 }),
      (parts, max, target) => {
        const source = parts.join('');
        const chunks = chunkText(source, { maxChars: max, targetChars: target });
        assert.equal(squeezed(chunks.map(({ text }) => text).join('')), squeezed(source));
        for (const { text, headings } of chunks) {
          assert.ok(text.length <= max, `${text.length} > ${max}`);
          assert.ok(!/[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/.test(text), 'a character was cut in two');
          assert.deepEqual(headings, []);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('SEARCH-1: 200,000 characters of whatever shape are cut to the end, in chunks of bounded size', () => {
  const shapes = {
    paragraph: 'Some words without any stop ',
    sentences: ENDS,
    lines: 'a line of a log\n',
    headings: '# h\nx\n',
    hashes: '#',
    fences: '```\n',
    stops: 'no. ',
    dots: '.',
    blanks: ' ',
    pipes: '|',
    items: '- a\n',
    unbroken: 'x',
    cjk: '返品は三十日以内です。',
  };
  for (const [name, shape] of Object.entries(shapes)) {
    const text = shape.repeat(Math.ceil(KNOWLEDGE_TEXT_MAX_CHARS / shape.length)).slice(0, KNOWLEDGE_TEXT_MAX_CHARS);
    for (const chunk of chunkText(text)) assert.ok(chunk.text.length <= CHUNK_MAX_CHARS, name);
  }
});
