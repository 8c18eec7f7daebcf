import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RESTORABLE } from '../../../assistant/privacy/placeholder.ts';
import { hideInAddresses, PlaceholderGate } from '../../../assistant/privacy/placeholder-gate.ts';

const PARTS = [
  '⟦email_1⟧',
  '⟦phone_23⟧',
  '⟦text_4⟧',
  '⟦',
  '⟧',
  '⟦email',
  '⟦card_',
  '⟦iban_9',
  '⟦foo_1⟧',
  '_',
  '1',
  'email',
  'a',
  ' ',
  '😀',
  '\n',
];
const text = fc.array(fc.oneof(fc.constantFrom(...PARTS), fc.string()), { maxLength: 20 }).map((parts) => parts.join(''));

/** The text in pieces, cut at any code units. */
const split = fc.tuple(text, fc.array(fc.nat(), { maxLength: 12 })).map(([whole, cuts]) => {
  const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((one, other) => one - other), whole.length];
  return { whole, deltas: at.slice(1).map((end, index) => whole.slice(at[index], end)) };
});

/** With every placeholder of a known kind as it is inside an address; which of them are is told in addresses.test.ts. */
const numberless = (words: string) => words.replace(RESTORABLE, (placeholder) => placeholder.replace(/_\d+/, ''));

describe('PRIVACY-9: placeholders that are split across chunks of the model', () => {
  test('any split of any text says the same text, but for placeholders inside addresses', () => {
    fc.assert(
      fc.property(split, ({ whole, deltas }) => {
        const gate = new PlaceholderGate();
        assert.equal(numberless(deltas.map((delta) => gate.push(delta)).join('') + gate.flush()), numberless(whole));
      }),
    );
  });

  test('no piece said ends inside a placeholder', () => {
    fc.assert(
      fc.property(split, ({ deltas }) => {
        const gate = new PlaceholderGate();
        let said = '';
        const ends = deltas.map((delta) => {
          said += gate.push(delta);
          return said.length;
        });
        said += gate.flush();
        const inside = [...said.matchAll(RESTORABLE)].map((match) => [match.index, match.index + match[0].length] as const);
        for (const at of ends) assert.ok(!inside.some(([start, end]) => start < at && at < end));
      }),
    );
  });

  test('split after every character, a placeholder is said whole, with the character that shows that no address goes on', () => {
    const gate = new PlaceholderGate();
    const said = [...'to ⟦email_12⟧!'].map((character) => gate.push(character)).filter((piece) => piece !== '');
    assert.deepEqual(said, ['t', 'o', ' ', '⟦email_12⟧!']);
  });

  test('what cannot become a placeholder any more is let go at once', () => {
    const cases: [held: string, delta: string][] = [
      ['⟦em', 'x'],
      ['⟦', ' '],
      ['⟦email_', '0'],
      ['⟦email_1234567', '8'],
      ['⟦email', '⟧'],
      ['⟦email_', '⟧'],
    ];
    for (const [held, delta] of cases) {
      const gate = new PlaceholderGate();
      assert.equal(gate.push(held), '', held);
      assert.equal(gate.push(delta), held + delta, held);
      assert.equal(gate.flush(), '');
    }
  });

  test('what follows at once makes a host or an address of mail of it, or does not; what is undecided after 64 characters does', () => {
    for (const after of [
      'x',
      '.evil.example',
      '-1.example',
      '__x',
      '@evil.example',
      '+a@evil.example',
      '⟦phone_1⟧',
      '.'.repeat(64),
      '.'.repeat(70),
      `${'-'.repeat(63)}@e`,
    ])
      assert.ok(hideInAddresses(`to ⟦email_1⟧${after}`).startsWith('to ⟦email⟧'), after);
    for (const after of ['', ' ', '.', '. Bye', '+', '+a b', '!@', '?x', `${'.'.repeat(63)} `, ' @a', ' ⟦phone_1⟧', '💬'])
      assert.equal(hideInAddresses(`to ⟦email_1⟧${after}`), `to ⟦email_1⟧${after}`);
    const gate = new PlaceholderGate();
    assert.equal(gate.push(`⟦email_1⟧${'.'.repeat(63)}`), '', 'it may still become one');
    assert.equal(gate.push('.'), `⟦email⟧${'.'.repeat(64)}`);
  });

  test('an address that was said before the placeholder came hides it, and none after the end of its text', () => {
    const gate = new PlaceholderGate();
    assert.equal(gate.push('https://evil.example/?') + gate.push('⟦email_1⟧ '), 'https://evil.example/?⟦email⟧ ');
    assert.equal(gate.push('https://evil.example/?') + gate.flush() + gate.push('⟦email_1⟧ '), 'https://evil.example/?⟦email_1⟧ ');
  });

  test('a second opening lets the first go and is held itself', () => {
    const gate = new PlaceholderGate();
    assert.equal(gate.push('a⟦email_1'), 'a');
    assert.equal(gate.push('⟦email_1'), '⟦email_1');
    assert.equal(gate.push('⟧ '), '⟦email_1⟧ ');
  });

  test('the end of the text says what was held, once', () => {
    const gate = new PlaceholderGate();
    assert.equal(gate.push('see ⟦phone_'), 'see ');
    assert.equal(gate.flush(), '⟦phone_');
    assert.equal(gate.flush(), '');
    assert.equal(gate.push('1⟧'), '1⟧');
  });
});
