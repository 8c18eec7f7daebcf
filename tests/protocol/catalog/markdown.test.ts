/** Markdown from the model: no HTML, only http(s) links, code untouched (catalog.md "Rules"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { validateBody } from '../../../src/protocol/catalog/catalog.ts';
import { defuseMarkdown } from '../../../src/protocol/catalog/markdown.ts';

const KEPT = [
  'Plain, with 1 < 2 and a <3.',
  '[shop](https://example.com/a_(b)?q=1 "Shop") and <https://example.com>',
  '![shoe](https://example.com/shoe.png)',
  '[docs][1]\n\n[1]: https://example.com/docs',
  'Write `<b>` or ``[x](javascript:1)`` in code.',
  '```html\n<script>alert(1)</script>\n[x](javascript:1)\n```\ndone',
  '~~~\n<b>\n```\n<i>\n~~~',
  '- [x] done\n- [ ] open (soon)',
];

const DEFUSED: readonly (readonly [string, string])[] = [
  ['<b>bold</b>', '‹b>bold‹/b>'],
  ['<script>alert(1)</script>', '‹script>alert(1)‹/script>'],
  ['<!-- x --><?php ?>', '‹!-- x -->‹?php ?>'],
  ['<https://a.example onclick=x>', '‹https://a.example onclick=x>'],
  ['<javascript:alert(1)>', '‹javascript:alert(1)>'],
  ['[go](javascript:alert(1)) now', '[go] now'],
  ['[go](  <data:text/html,x> "t")', '[go]'],
  ['[go](mailto:a@b.c)', '[go]'],
  ['[go](/orders)', '[go]'],
  ['[a](x): javascript:1', '[a]❨x): javascript:1'],
  ['[a](x)(javascript:1)', '[a]❨x)(javascript:1)'],
  ['[go](http&#58;//x)', '[go]'],
  ['[go](javascript:a((1)))', '[go]❨javascript:a((1)))'],
  ['[![i](https://a.example/i.png)](javascript:1)', '[![i](https://a.example/i.png)]'],
  ['> [a]: javascript:1', '> [a] javascript:1'],
  ['[a]:: javascript:1', '[a] javascript:1'],
  ['`unclosed <b>', '`unclosed ‹b>'],
  ['`a\n\n<b>`', '`a\n\n‹b>`'],
  ['```\ncode\n```\n<b>', '```\ncode\n```\n‹b>'],
];

test('catalog.md md: harmless Markdown and all code stay as they are', () => {
  for (const md of KEPT) assert.equal(defuseMarkdown(md), md);
});

test('catalog.md md: HTML loses its bracket, links that are not http(s) their address', () => {
  for (const [md, expected] of DEFUSED) assert.equal(defuseMarkdown(md), expected);
});

test('catalog.md md: what is stored has been defused, in every component that takes Markdown', () => {
  const md = '[x](javascript:1) <i>';
  const bodies = {
    text: { md },
    section: { title: 'T', md },
    disclosure: { summary: 'S', md },
    info_card: { title: 'T', md, tone: 'info' },
  };
  for (const [name, body] of Object.entries(bodies)) {
    const valid = validateBody(name, body);
    assert.ok(valid.ok);
    assert.equal(valid.body.md, '[x] ‹i>', name);
  }
});

test('defuseMarkdown is idempotent and never makes a text longer', () => {
  const pieces = fc.constantFrom(
    '`',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '<b>',
    '<',
    '[a]',
    ']',
    '](',
    '(',
    ')',
    'javascript:x',
    'https://a.b',
    ': ',
    '> ',
    ':',
    ' ',
    'é',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const once = defuseMarkdown(parts.join(''));
      assert.equal(defuseMarkdown(once), once);
      assert.ok(once.length <= parts.join('').length);
    }),
    { numRuns: 3_000 },
  );
});
