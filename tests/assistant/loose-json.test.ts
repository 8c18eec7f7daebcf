import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { looseJson } from '../../assistant/loose-json.ts';

test('MODEL-31: JSON with slips is read for what it says', () => {
  for (const [text, value] of [
    ['```json\n{"a": "b c", "d": [1, true,],}\n```', { a: 'b c', d: [1, true] }],
    ["{title: 'Two days', tone: success}", { title: 'Two days', tone: null }],
    ['{"points": [{"text": "Order earl', { points: [{ text: 'Order earl' }] }],
    ['{"a" "b"}', { a: 'b' }],
    ['[{"a"},{"b":1}]', [{ a: null }, { b: 1 }]],
    ['{"a": "line\nbreak \\"q\\" \\u00e9"}', { a: 'line\nbreak "q" é' }],
    ['Sorry, no.', undefined],
  ] as const)
    assert.deepEqual(looseJson(text), value, text);
});

test('MODEL-31: what is JSON is read as such, and nothing makes the reader throw or loop', () => {
  // Breaks of lines and the like become blanks.
  const words = fc.string().filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(
    fc.property(fc.dictionary(words, fc.oneof(fc.boolean(), fc.nat(), fc.array(words))), (value) => {
      const json = JSON.stringify(value);
      assert.deepEqual(looseJson(json), JSON.parse(json));
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '[', '}', ']', '"', ',', ':', 'a', '\\', ' ', '1') }),
      (text) => void looseJson(text),
    ),
  );
  looseJson('['.repeat(100_000));
});
