import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { regionOfLocale } from '../../../assistant/privacy/find.ts';
import type { PlaceholderKind } from '../../../assistant/privacy/placeholder.ts';
import { PlaceholderTable, redactText, rewriteStrings } from '../../../assistant/privacy/placeholder-table.ts';
import { JSON_DEPTH_MAX } from '../../../protocol/limits.ts';

const PLACE = { regions: ['DE'], label: '' };

/** Numbers values as a new conversation does. */
function numbering(table: PlaceholderTable) {
  return (kind: PlaceholderKind, value: string): string => {
    if (table.placeholderFor(kind, value) === undefined) table.add(kind, table.nextNumber(kind), value);
    return table.placeholderFor(kind, value) ?? '';
  };
}

function redact(table: PlaceholderTable, text: string): string {
  return redactText(text, PLACE, numbering(table));
}

const VALUES = [
  'anna@example.com',
  "o'b@c.org",
  '+49 30 901820',
  '0176 1234 5678',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  '⟦email_1⟧',
  '⟦text_1⟧',
  '⟦email⟧',
  '⟦x_0⟧',
];
const writing = fc
  .array(
    fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'grapheme' }), fc.constantFrom('⟦', '⟧', '⟦email_', '1⟧', '"', '\\', '\n', ' ')),
  )
  .map((parts) => parts.join(''));

describe('PRIVACY-7, PRIVACY-8, PRIVACY-10: PlaceholderTable', () => {
  test('values are numbered per kind, and the same value keeps its number', () => {
    const table = new PlaceholderTable();
    const text = redact(table, 'a@b.de, +49 30 901820, c@d.de, a@b.de, 4111111111111111, DE89370400440532013000');
    assert.equal(text, '⟦email_1⟧, ⟦phone_1⟧, ⟦email_2⟧, ⟦email_1⟧, ⟦card_1⟧, ⟦iban_1⟧');
    assert.equal(table.size, 5);
  });

  test('values that differ in case are two: restoring is exact', () => {
    const table = new PlaceholderTable();
    assert.equal(redact(table, 'A@b.de a@b.de'), '⟦email_1⟧ ⟦email_2⟧');
  });

  test('whatever a person writes comes back as it was, lookalikes included, and no value is in what is kept', () => {
    fc.assert(
      fc.property(fc.array(writing, { maxLength: 4 }), (messages) => {
        const table = new PlaceholderTable();
        const kept = messages.map((message) => redact(table, message));
        assert.deepEqual(
          kept.map((text) => table.restore(text)),
          messages,
        );
        for (const text of kept) assert.equal(redactText(table.restore(text), PLACE, numbering(table)), text);
      }),
    );
  });

  test('a person’s own ⟦email_1⟧ is never shown as an address', () => {
    const table = new PlaceholderTable();
    const kept = redact(table, 'a@b.de is not ⟦email_1⟧');
    assert.equal(kept, '⟦email_1⟧ is not ⟦text_1⟧');
    assert.equal(table.restore(kept), 'a@b.de is not ⟦email_1⟧');
  });

  test('within JSON values are inserted as JSON, and frames stay frames', () => {
    fc.assert(
      fc.property(fc.string(), writing, (value, message) => {
        const table = new PlaceholderTable();
        table.add('text', 1, value);
        const kept = redact(table, message);
        const frames = `event: block\ndata: ${JSON.stringify({ text: kept, own: '⟦text_1⟧' })}\n\n`;
        const restored = table.restoreJson(frames);
        const [event, data, ...rest] = restored.split('\n');
        assert.deepEqual([event, ...rest], ['event: block', '', '']);
        assert.deepEqual(JSON.parse((data ?? '').slice('data: '.length)), { text: message, own: value });
      }),
    );
  });

  test('unknown placeholders stay, unless somebody knows them after all', () => {
    const table = new PlaceholderTable();
    table.add('email', 1, 'a@b.de');
    const text = '⟦email_1⟧ ⟦email_2⟧ ⟦foo_1⟧ ⟦email_01⟧ ⟦email⟧';
    assert.equal(table.restore(text), 'a@b.de ⟦email_2⟧ ⟦foo_1⟧ ⟦email_01⟧ ⟦email⟧');
    const asked: string[] = [];
    table.restore(text, (placeholder) => {
      asked.push(placeholder);
      return undefined;
    });
    assert.deepEqual(asked, ['⟦email_2⟧']);
  });

  test('printing a table shows no value', () => {
    const table = new PlaceholderTable();
    table.add('email', 1, 'anna@example.com');
    assert.doesNotMatch(inspect(table, { depth: 9, showHidden: true }), /anna/);
    assert.doesNotMatch(JSON.stringify(table), /anna/);
  });
});

describe('PRIVACY-4: rewriteStrings', () => {
  const upper = (text: string) => text.toUpperCase();

  test('strings at any depth are rewritten with the name of their field, and everything else stays', () => {
    const labels: string[] = [];
    const value = { A: 'x', B: [1, null, 'y', { C: 'z' }], D: true };
    const rewritten = rewriteStrings(value, (text, label) => {
      if (label !== '') labels.push(label);
      return upper(text);
    });
    assert.deepEqual(rewritten, { A: 'X', B: [1, null, 'Y', { C: 'Z' }], D: true });
    assert.deepEqual(labels, ['A', 'B', 'C']);
    assert.deepEqual(value, { A: 'x', B: [1, null, 'y', { C: 'z' }], D: true });
  });

  test('names of fields are rewritten, too: who keys a map by e-mail addresses writes them there', () => {
    assert.deepEqual(
      rewriteStrings({ owners: { 'a@b.example': 1 } }, (text) => text.replaceAll('a@b.example', '⟦email_1⟧')),
      {
        owners: { '⟦email_1⟧': 1 },
      },
    );
  });

  test('what does not change is the same value', () => {
    const value = { A: ['X', { B: 'Y' }], C: 1 };
    assert.equal(rewriteStrings(value, upper), value);
  });

  test('a field named __proto__ stays a field', () => {
    const value = JSON.parse('{"__proto__":{"A":"x"}}') as object;
    assert.equal(JSON.stringify(rewriteStrings(value, (text) => text.replaceAll('x', 'X'))), '{"__proto__":{"A":"X"}}');
  });

  test('whole numbers are looked at where that is asked for, and stay numbers where nothing is found', () => {
    const known = (text: string) => (text === '4111111111111111' ? '⟦card_1⟧' : text);
    const said = { card: 4_111_111_111_111_111, count: 3, price: 1.5 };
    assert.deepEqual(rewriteStrings(said, known, true), { card: '⟦card_1⟧', count: 3, price: 1.5 });
    assert.equal(rewriteStrings(said, known), said);
  });

  test('objects that nest too deep are not passed on either', () => {
    let nested: unknown = 'anna@example.com';
    for (let depth = 0; depth <= JSON_DEPTH_MAX; depth++) nested = { in: nested };
    assert.ok(!JSON.stringify(rewriteStrings(nested, (text) => text)).includes('anna'));
  });

  test('what nests too deep to be looked through is not passed on', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'deep' : [nested(depth - 1)]);
    assert.match(JSON.stringify(rewriteStrings(nested(JSON_DEPTH_MAX), upper)), /DEEP/);
    assert.doesNotMatch(JSON.stringify(rewriteStrings(nested(JSON_DEPTH_MAX + 1), upper)), /deep/i);
  });
});

test('PRIVACY-3: a number is judged for the country of its locale, the likeliest when it names none', () => {
  const cases = { 'de-AT': 'AT', de: 'DE', en: 'US', 'zh-Hant-TW': 'TW', 'xx_!': undefined, '': undefined };
  for (const [locale, region] of Object.entries(cases)) assert.equal(regionOfLocale(locale), region, locale);
  assert.equal(regionOfLocale(undefined), undefined);
  assert.equal(regionOfLocale(null), undefined);
});
