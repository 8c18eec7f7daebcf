/** Markdown from the model: no HTML, only http(s) links, code untouched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { validateBody } from '../../../protocol/catalog/catalog.ts';
import { defuseMarkdown } from '../../../protocol/catalog/markdown.ts';
import { hasImages, markdownAddresses } from '../../support/markdown-addresses.ts';

const KEPT = [
  'Plain, with 1 < 2 and a <3.',
  '[shop](https://example.com/a_(b)?q=1 "Shop") and <https://example.com>',
  'Write `vec![1]` and ``![a](https://b)``, and mind the [shop](https://example.com)!',
  '```rust\nvec![1][0]\n```',
  '[docs][1]\n\n[1]: https://example.com/docs',
  'Write `<b>` or ``[x](javascript:1)`` in code.',
  '```html\n<script>alert(1)</script>\n[x](javascript:1)\n```\ndone',
  '~~~\n<b>\n```\n<i>\n~~~',
  '- [x] done\n- [ ] open (soon)',
  '1. Run `<b>`:\n   ```sh\n   npm i\n   ```\n2. See `<i>`.\n\n```html\n<b>\n```',
  '- ```\n  x\n  ```\n\n```\n<b>\n```',
  '> ```\n> x\n> ```\n\n```\n<b>\n```',
  '```\r\n<b>\r\n```\r\nand `<i>`',
  'See [shop](https://example.com/a "A") and `<b>`; the option [x]: works.',
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
  ['[![i](https://a.example/i.png)](javascript:1)', '[[i](https://a.example/i.png)]'],
  ['![shoe](https://example.com/shoe.png)', '[shoe](https://example.com/shoe.png)'],
  ['!![a][r] ![r] \\![a](https://b)\n\n[r]: https://c', '[a][r] [r] \\[a](https://b)\n\n[r]: https://c'],
  ['![a\nb]: javascript:1', '[a\nb] javascript:1'],
  ['<![CDATA[x]]>', '<[CDATA[x]]>'],
  ['`![a](https://b)\n\n', '`[a](https://b)\n\n'],
  ['> [a]: javascript:1', '> [a] javascript:1'],
  ['[a]:: javascript:1', '[a] javascript:1'],
  ['`unclosed <b>', '`unclosed ‹b>'],
  ['`a\n\n<b>`', '`a\n\n‹b>`'],
  ['```\ncode\n```\n<b>', '```\ncode\n```\n‹b>'],
  ['```x``` <img src=x onerror=alert(1)>', '```x``` ‹img src=x onerror=alert(1)>'],
  ['- ```\n  code\n  ```\n<img src=x>', '- ```\n  code\n  ```\n‹img src=x>'],
  ['- ```\n<img src=x>\n```', '- ```\n‹img src=x>\n```'],
  ['  ```\nx\n```\n<b>\n```', '  ```\nx\n```\n‹b>\n```'],
  ['a\n2. ```\n   ```\n```\n<b>\n```', 'a\n2. ```\n   ```\n```\n‹b>\n```'],
  ['```\n```\u00a0\n```\n<b>\n```', '```\n```\u00a0\n```\n‹b>\n```'],
  ['```\n<b>', '```\n‹b>'],
  ['\\`<img>`', '\\`‹img>`'],
  ['[a\nb]: javascript:alert(1)', '[a\nb] javascript:alert(1)'],
  ['x\r\r[a]: javascript:1', 'x\n\n[a] javascript:1'],
  ["[a`]: javascript:x '`'", "[a`] javascript:x '`'"],
  ['- `a\n- `<img>`', '- `a\n- `‹img>`'],
  ['`a\n\u00a0\n<b>`', '`a\n\u00a0\n‹b>`'],
  ['[a](https://b "`") <img> `', '[a](https://b "`") ‹img> `'],
  ["[a](https://b\n'`') <img> `", "[a](https://b\n'`') ‹img> `"],
  ['<https://b/`> <img> `', '<https://b/`> ‹img> `'],
  ['<1`@b.c> <img> `', '‹1`@b.c> ‹img> `'],
  ['<1@b.c>', '‹1@b.c>'],
  ['<1/?!x@b.c>', '‹1/?!x@b.c>'],
  ['www.b.c/` <img> `', 'www.b.c/` ‹img> `'],
  ['| ` | `a` <img> `b` |\n| - | - |', '| ` | `a` ‹img> `b` |\n| - | - |'],
  ['[a](\u00a0https://b)', '[a]'],
];

test('BLOCK-12: md: harmless Markdown and all code stay as they are', () => {
  for (const md of KEPT) assert.equal(defuseMarkdown(md), md);
});

test('BLOCK-12, BLOCK-25: md: HTML loses its bracket, images become links, links that are not http(s) their address', () => {
  for (const [md, expected] of DEFUSED) assert.equal(defuseMarkdown(md), expected);
});

test('BLOCK-12: md: what is stored has been defused, in every component that takes Markdown', () => {
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

test('BLOCK-12: defuseMarkdown is idempotent and never makes a text longer', () => {
  const pieces = fc.constantFrom(
    '`',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '<b>',
    '<',
    '[a]',
    '!',
    '![',
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

/** What CommonMark with GitHub's autolinks still finds in `md`: HTML, and addresses that are not http(s). A bare mail is words. */
function remains(md: string): string[] {
  const found = markdownAddresses(md).filter(({ part, isBareMail }) => part !== 'title' && !isBareMail);
  return found.filter(({ part, text }) => part === 'html' || !/^https?:\/\//i.test(text)).map(({ text }) => text);
}

test('BLOCK-12, BLOCK-25: md: CommonMark finds no HTML, no image and no link but http(s) in hostile Markdown, and a second pass finds no more to do', () => {
  const inline = fc.constantFrom(
    ...['<img src=x onerror=alert(1)>', '<b>', '</b>', '<!--', '-->', '<', '>', '<https://a.b/', '<1', '@b.c>', 'www.a.b/', 'https://a.b'],
    ...[
      '[a](javascript:x)',
      '![a](https://a.b)',
      '![a]',
      '!',
      '[a](',
      '[a',
      '[',
      ']',
      '](',
      ')',
      ']: javascript:x',
      ']: https://a.b',
      '[a]:',
      'javascript:x',
      '//a.b',
      '[a]',
    ],
    ...[
      'java&#115;cript&colon;x',
      'data\\:x',
      '"',
      "'",
      ' "',
      '`',
      '`',
      '``',
      '```',
      '~~~',
      '\\',
      '\\`',
      'x',
      ' ',
      ' ',
      '\t',
      '|',
      '\u00a0',
    ],
  );
  const start = fc.constantFrom(
    ...[
      '',
      '',
      '',
      ' ',
      '  ',
      '   ',
      '    ',
      '\t',
      '      ',
      '- ',
      '* ',
      '-',
      '1. ',
      '2. ',
      '1.  ',
      '- - ',
      '  - ',
      '   1) ',
      '> ',
      '>',
      '- > ',
    ],
  );
  const fence = fc.constantFrom('```', '```', '````', '~~~', '~~~~', '``` x', '``` `', '~~~ `', '```\u00a0');
  const words = fc.array(inline, { maxLength: 7 }).map((parts) => parts.join(''));
  const ends = fc.constantFrom('\n', '\n', '\n', '\n\n', '\r', '\r\n', '\n \n', '\n\u00a0\n');
  const line = fc.tuple(start, fc.oneof(fence, words, fc.constantFrom('<img src=x>', '`<b>`', '[a]: javascript:x')), ends);
  const texts = fc.array(line, { minLength: 1, maxLength: 9 }).map((lines) => lines.flat().join(''));
  fc.assert(
    fc.property(texts, (md) => {
      const once = defuseMarkdown(md);
      assert.deepEqual(remains(once), [], JSON.stringify(once));
      assert.ok(!hasImages(once), JSON.stringify(once));
      assert.equal(defuseMarkdown(once), once);
      assert.ok(once.length <= md.length);
    }),
    { numRuns: 2_000 },
  );
});

test('BLOCK-12, SAFE-1: defuseMarkdown reads long hostile text once', () => {
  // 400,000 characters: linear reading takes some ten milliseconds each, squared reading takes minutes.
  for (const piece of [
    '`',
    '` ',
    '``` \n',
    '`a``b',
    '](',
    '[a](https://b "',
    '<',
    '<1',
    '\\`',
    '[\n',
    ']:',
    '- ```\n',
    '  ```\n',
    '~~~\n~~~~\n',
    '\r',
    '@`',
    '!',
    '![',
  ]) {
    const started = process.cpuUsage();
    defuseMarkdown(piece.repeat(Math.ceil(400_000 / piece.length)));
    const { user } = process.cpuUsage(started);
    // Half a second at most on a quick machine; what grows with the square of the length takes minutes.
    assert.ok(user < 20_000_000, `${JSON.stringify(piece)}: ${user} µs`);
  }
});
