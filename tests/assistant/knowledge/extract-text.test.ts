import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { decodeText } from '../../../assistant/knowledge/charset.ts';
import { chunkText } from '../../../assistant/knowledge/chunk.ts';
import { extractText } from '../../../assistant/knowledge/extract-text.ts';
import type { LinkMediaType } from '../../../assistant/knowledge/fetch-link.ts';
import { LinkError } from '../../../assistant/knowledge/link-error.ts';
import { makePdf } from './documents.ts';

function extract(mediaType: LinkMediaType, body: string | Uint8Array, charset?: string) {
  return extractText({ mediaType, charset, bytes: typeof body === 'string' ? Buffer.from(body) : body });
}

const PAGE = `<!doctype html><html><head><title>Refunds &amp; returns | Shop</title><style>p { color: red }</style>
<script>track('visit')</script></head><body>
<header><a href="/">Home</a><nav><ul><li>Menu one</li><li>Menu two</li></ul></nav></header>
<main><h1>Refund policy</h1>
<p>You may send goods back <b>within 30 days</b> of
   delivery.<br>Keep the <code>receipt</code>.</p>
<h2>How it <em>works</em></h2>
<ol><li>Pack it<ul><li>in a box</li><li>with tape</li></ul></li><li><p>Send it</p></li></ol>
<h3>Fees</h3>
<table><caption>Fees by country</caption><thead><tr><th>Country</th><th>Fee</th></tr></thead>
<tbody><tr><td>NL</td><td>3 | with VAT</td></tr><tr><td>DE</td><td>4<br>euros</td></tr></tbody></table>
<pre>line 1
  # line 2</pre>
<blockquote><p>Quoted.</p><p>Twice.</p></blockquote>
<dl><dt>Term</dt><dd>Meaning</dd></dl>
<p># not a heading</p><p hidden>secret one</p><p style="color:red; display:none">secret two</p><p aria-hidden="true">secret three</p>
<button>Buy</button></main>
<aside>Related things</aside><footer>Imprint</footer></body></html>`;

test('KNOWLEDGE-11: a page becomes Markdown with its headings, lists, tables and code, without what surrounds it', async () => {
  const { title, text } = await extract('text/html', PAGE);
  assert.match(title, /^Refunds & returns/);
  const parts = [
    'You may send goods back within 30 days of delivery.\nKeep the `receipt`.',
    '## How it works',
    '1. Pack it\n   - in a box\n   - with tape\n2. Send it',
    '### Fees',
    'Fees by country',
    '| Country | Fee |\n| --- | --- |\n| NL | 3 \\| with VAT |\n| DE | 4 euros |',
    '```\nline 1\n  # line 2\n```',
    '> Quoted.\n>\n> Twice.',
    'Term\n\n: Meaning',
    '\\# not a heading',
  ];
  assert.deepEqual(
    parts.filter((part) => !text.includes(part)),
    [],
    text,
  );
  assert.match(text, /^# Refund policy\n/);
  for (const left of ['Menu', 'Home', 'secret', 'track', 'color', 'Related', 'Imprint', 'Buy']) assert.ok(!text.includes(left), left);
});

test('SEARCH-2: chunks of a page keep the path of its headings', async () => {
  const { text } = await extract('text/html', PAGE);
  const chunk = chunkText(text).find((each) => each.text.includes('| NL |'));
  assert.deepEqual(chunk?.headings, ['Refund policy', 'How it works', 'Fees']);
});

test('KNOWLEDGE-11: a page without an article is read as a whole', async () => {
  const faq = Array.from({ length: 12 }, (_, i) => `<section><h2>Question ${i}?</h2><p>Answer ${i}.</p></section>`).join('');
  const { text } = await extract('text/html', `<body><nav>Menu</nav><div>${faq}</div></body>`);
  for (let i = 0; i < 12; i++) assert.match(text, new RegExp(`## Question ${i}\\?\\n\\nAnswer ${i}\\.`));
  assert.ok(!text.includes('Menu'));
});

test('KNOWLEDGE-11: an article is told from the comments and teasers around it', async () => {
  const prose = 'The parcel travels for three days, and on Sundays it rests, like everybody else. ';
  const body = `<div class="sidebar"><ul><li><a href="/a">Teaser</a></li></ul></div><article><h1>Shipping</h1><p>${prose.repeat(6)}</p><p>${prose.repeat(6)}</p></article>
    <div class="comments"><p><a href="/u">bob</a> First!</p></div>`;
  const { text } = await extract('text/html', `<html><head><title>Shipping</title></head><body>${body}</body></html>`);
  assert.ok(text.includes('on Sundays it rests'));
  assert.ok(!text.includes('Teaser') && !text.includes('First!'), text);
});

test('KNOWLEDGE-11: a fragment, a page that is all layout tables, and a list without items are read', async () => {
  assert.equal((await extract('text/html', 'Just <b>words</b>')).text, 'Just words');
  const layout = '<table><tr><td><h2>Left</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>';
  assert.equal((await extract('text/html', `<body>${layout}</body>`)).text, '## Left\n\nOne.\n\nTwo.');
  assert.equal((await extract('text/html', '<ul></ul><ol> </ol><table></table><pre> </pre><h2> </h2>after')).text, 'after');
});

const LABELS: readonly (readonly [label: string, encoding: string, text: string])[] = [
  ['windows-1252', 'windows-1252', 'Preis: 5 € – „gut“ für Zoë'],
  ['ISO-8859-1', 'windows-1252', 'It’s café'],
  ['shift_jis', 'shift_jis', '返品は三十日以内にお願いします。'],
  ['x-sjis', 'shift_jis', '配送料は無料です。'],
  ['euc-kr', 'euc-kr', '환불은 삼십 일 이내'],
  ['gbk', 'gbk', '三十天内可以退货'],
  ['koi8-r', 'koi8-r', 'Возврат в течение тридцати дней'],
  ['utf-16le', 'utf-16le', 'Zoë €'],
];

test('KNOWLEDGE-12: the charset of the Content-Type is honoured', async () => {
  for (const [label, encoding, text] of LABELS) {
    const html = iconv.encode(`<html><body><p>${text}</p></body></html>`, encoding);
    assert.equal((await extract('text/html', html, label)).text, text, label);
    assert.equal((await extract('text/plain', iconv.encode(text, encoding), label)).text, text, label);
  }
  const iso2022 = Uint8Array.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]);
  assert.equal((await extract('text/plain', iso2022, 'iso-2022-jp')).text, '日本');
});

test('KNOWLEDGE-12: a <meta> names the charset where the Content-Type does not', async () => {
  for (const [label, encoding, text] of LABELS.filter(([name]) => name !== 'utf-16le')) {
    for (const meta of [`<meta charset="${label}">`, `<meta http-equiv=Content-Type content='text/html; charset=${label}'>`]) {
      const html = iconv.encode(`<html><head>${meta}</head><body><p>${text}</p></body></html>`, encoding);
      assert.equal((await extract('text/html', html)).text, text, meta);
      assert.equal((await extract('text/html', html, 'no-such-charset')).text, text, 'an unknown label is none');
    }
  }
});

test('KNOWLEDGE-12: a byte order mark wins, and what nobody names is UTF-8 or else windows-1252', () => {
  assert.equal(decodeText(iconv.encode('Zoë', 'utf-8', { addBOM: true }), 'windows-1252', false), 'Zoë');
  assert.equal(decodeText(iconv.encode('Zoë', 'utf-16be', { addBOM: true }), 'utf-8', false), 'Zoë');
  assert.equal(decodeText(iconv.encode('Zoë', 'utf-16le', { addBOM: true }), undefined, true), 'Zoë');
  assert.equal(decodeText(Buffer.from('Zoë €'), undefined, false), 'Zoë €');
  assert.equal(decodeText(iconv.encode('Zoë €', 'windows-1252'), undefined, false), 'Zoë €');
  assert.equal(decodeText(Buffer.from('a\0b'), 'base64', false), 'ab', 'a name of iconv-lite alone is no charset, and no NUL is kept');
});

test('KNOWLEDGE-13: JSON is laid out, and what is no JSON is kept', async () => {
  assert.equal(
    (await extract('application/json', '{"a":[1,{"b":"ü"}]}')).text,
    '```json\n{\n  "a": [\n    1,\n    {\n      "b": "ü"\n    }\n  ]\n}\n```',
  );
  assert.equal((await extract('application/json', '{"a":1}\n{"a":2}')).text, '{"a":1}\n{"a":2}');
  const deep = '['.repeat(200_000);
  assert.equal((await extract('application/json', deep)).text.slice(0, 3), '[[[');
});

test('KNOWLEDGE-13: Markdown and plain text stay as they are; a Markdown document is titled by its first heading', async () => {
  const markdown = 'Intro\r\n\r\n# Shipping *costs* #\r\n\r\n- a\r\n- b\r\n';
  assert.deepEqual(await extract('text/markdown', markdown), {
    title: 'Shipping *costs*',
    text: 'Intro\n\n# Shipping *costs* #\n\n- a\n- b',
  });
  assert.deepEqual(await extract('text/plain', ' # no title \n'), { title: '', text: '# no title' });
});

test('KNOWLEDGE-13: a PDF becomes text by pages, with its title', async () => {
  const bytes = makePdf([['Refunds', '', '', 'Thirty (30) days', 'after delivery.'], [], ['Shipping is free.']], { title: 'The handbook' });
  const { title, text } = await extract('application/pdf', bytes);
  assert.equal(title, 'The handbook');
  assert.equal(text, '## Page 1\n\nRefunds\n\nThirty (30) days\nafter delivery.\n\n## Page 3\n\nShipping is free.');
  assert.deepEqual(await extract('application/pdf', makePdf([['One page.']])), { title: '', text: 'One page.' });
});

test('KNOWLEDGE-13: a PDF of more pages than are read, or more text than is kept, ends there', async () => {
  const long = await extract('application/pdf', makePdf(Array.from({ length: 600 }, (_, at) => [`This is page ${at + 1}.`])));
  assert.ok(long.text.includes('page 500.') && !long.text.includes('page 501.'));
  const lines = Array.from({ length: 50 }, () => 'word '.repeat(17));
  const wide = await extract('application/pdf', makePdf(Array.from({ length: 60 }, () => lines)));
  assert.equal([...wide.text].length, 200_000);
});

test('KNOWLEDGE-14: a document without text, or one that is damaged or locked, says so', async () => {
  const nothing = /^LinkError: The document has no text that could be read\.$/;
  await assert.rejects(extract('text/html', '<html><body><script>x()</script> </body></html>'), nothing);
  await assert.rejects(extract('text/plain', ' \n\t '), nothing);
  await assert.rejects(extract('application/pdf', makePdf([[]])), nothing);
  await assert.rejects(extract('application/pdf', Buffer.from('not a pdf')), /^LinkError: The PDF is damaged/);
  // Its catalogue can be read, and none of its pages.
  const pageless = Buffer.from(makePdf([['Page.']]))
    .toString('latin1')
    .replace('/Kids [4 0 R]', '/Kids [9 0 R]');
  await assert.rejects(extract('application/pdf', Buffer.from(pageless, 'latin1')), /^LinkError: The PDF is damaged/);
  const key = '/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4';
  const locked = `${key} /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >> /ID [<${'12'.repeat(16)}> <${'12'.repeat(16)}>]`;
  await assert.rejects(
    extract('application/pdf', makePdf([['Secret.']], { trailer: locked })),
    /^LinkError: The PDF is protected by a password\.$/,
  );
});

test('KNOWLEDGE-13: title and text are clipped to what a source may hold', async () => {
  const { title, text } = await extract('text/html', `<title>${'t'.repeat(500)}</title><p>${'😀'.repeat(250_000)}</p>`);
  assert.equal([...title].length, 160);
  assert.ok([...text].length <= 200_000 && text.length > 150_000);
});

test('KNOWLEDGE-14: any bytes give text or a sentence', async () => {
  const html = fc.array(
    fc.oneof(
      fc.constantFrom(
        '<table>',
        '<tr>',
        '<td>',
        '<ul>',
        '<li>',
        '<p>',
        '</p>',
        '<pre>',
        '<h2>',
        '</',
        '<!--',
        '"',
        '&#0;',
        '<svg>',
        '<html',
      ),
      fc.string(),
    ),
  );
  await fc.assert(
    fc.asyncProperty(html, fc.uint8Array(), async (parts, bytes) => {
      for (const body of [Buffer.from(parts.join('')), bytes]) {
        const outcome = await extract('text/html', body).catch((error: unknown) => error);
        assert.ok(outcome instanceof LinkError || (outcome as { text: string }).text.trim() !== '');
      }
    }),
    { numRuns: 100 },
  );
});
