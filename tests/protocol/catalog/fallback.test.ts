/** Fallback texts: made from the body, true, at most 600 characters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG, fallbackText, validateBody } from '../../../protocol/catalog/catalog.ts';
import type { Body } from '../../../protocol/catalog/component.ts';
import { codePoints } from '../../../protocol/schema/text.ts';
import { type Example, fullExample, MODEL_EXAMPLES, serverFields } from './examples.ts';

function said(name: string, body: Example): string {
  const valid = validateBody(name, body);
  assert.ok(valid.ok, JSON.stringify(valid));
  return fallbackText(name, valid.body);
}

/** What each first example must say, and must not. */
const TRUTHS: Readonly<Record<string, { says: readonly string[]; never?: readonly string[] }>> = {
  text: { says: ['The **Large** holds twice as much', '[How it is made](https://kettle.example/making)'] },
  section: { says: ['Delivery', 'Orders before 2 pm leave the same day.'] },
  key_points: { says: ['What matters', 'Free delivery from €50.'] },
  quick_replies: { says: ['Track my order / Return it'] },
  choice: { says: ['Which one?', 'Blue', 'Red (not available)'], never: ['Blue (not available)'] },
  tags: { says: ['Vegan'] },
  actions: { says: ['Tell me more', 'Website: https://example.com', 'Call: +34 600 000 000'], never: ['https://example.com.'] },
  screens: { says: ['Your orders: All of them'] },
  confirm_card: {
    says: ['Waiting for confirmation until 2026-11-20 09:45 UTC', 'Cancels order 1042', 'Reason: late'],
    never: ['Confirmed'],
  },
  order_tracker: {
    says: ['Order 1042: out for delivery', 'With the courier', '2026-11-20 14:00 until 2026-11-20 16:00', 'Correos PK123', '2 × Shoe'],
    never: ['Packed'],
  },
  timeline: { says: ['Your repair', 'Kettle received (2026-11-18 10:12, done)', 'Back to you (upcoming)'] },
  checklist: { says: ['☑ Rinse it', '☐ Set how hard your water is'] },
  comparison: { says: ['Basic: Price 0 EUR, Support no, Seats 1', 'Pro (recommended): Price 59.90 EUR, Support yes, Seats any'] },
  key_value: { says: ['Order A-1042', 'Tracking: JD014600006811'] },
  info_card: { says: ['We moved', 'Our shop is now in Mill Street 4.'] },
  item_list: { says: ['1 of 42', 'Runner, 59.90 EUR'] },
  place_card: { says: ['Kettle & Co. (Kitchen shop): Mill Street 4, 10115 Berlin', 'Rated 4.6 of 5', 'Open now', '+49 30 1234567'] },
  map: { says: ['past Alexanderplatz to your door', 'Our shop, Your parcel now'] },
  pass: { says: ['Concert', 'Seat: 12A', 'Valid until 2026-11-20 23:00', 'T-0042'] },
  code: { says: ['assistant.js', 'const assistant = await init('] },
  contact: { says: ['Ana, Support', 'Mail ana@example.com', 'phone ⟦phone_1⟧'] },
  rating: { says: ['How did it go? (1 to 5)'] },
  disclosure: { says: ['The fine print of the guarantee', 'Limescale is **not** covered.'] },
  variant_picker: { says: ['Runner', 'Size: 40, 41', 'Colour: Red, Blue'], never: ['Nothing'] },
  datetime_slots: { says: ['When suits you?', '2026-11-20 09:00 (Europe/Madrid)'], never: ['10:00'] },
  form: { says: ['Your address', 'Name (required)', 'Notes: Too short.'] },
};

for (const name of CATALOG.keys()) {
  test(`BLOCK-11: ${name}: its fallback text says what the body says`, () => {
    const text = said(name, fullExample(name));
    for (const truth of TRUTHS[name]?.says ?? ['?']) assert.ok(text.includes(truth), `"${text}" lacks "${truth}"`);
    for (const lie of TRUTHS[name]?.never ?? []) assert.equal(text.includes(lie), false, `"${text}" has "${lie}"`);
    for (const example of MODEL_EXAMPLES[name] ?? []) {
      const other = said(name, { ...serverFields(name, 'b'), ...example });
      assert.ok(other.length > 0 && codePoints(other) <= 600);
      assert.doesNotMatch(other, /undefined|null|\[object/);
    }
  });
}

test('BLOCK-11: fallback_text ≤600: long bodies are cut, in code points, also when answered', () => {
  const long: Readonly<Record<string, Example>> = {
    text: { md: '𝒜'.repeat(8_000) },
    code: { language: 'text', code: 'x\n'.repeat(4_000) },
    key_value: { rows: Array.from({ length: 20 }, () => ({ label: 'l'.repeat(40), value: '😀'.repeat(200) })) },
    choice: {
      prompt: 'p'.repeat(200),
      mode: 'multi',
      options: Array.from({ length: 24 }, (_unused, index) => ({ id: `o${index}`, label: '😀'.repeat(60) })),
      status: 'answered',
      selected_ids: Array.from({ length: 24 }, (_unused, index) => `o${index}`),
    },
  };
  for (const [name, body] of Object.entries(long)) {
    const text = said(name, body);
    assert.ok(codePoints(text) <= 600, `${name}: ${codePoints(text)}`);
    assert.ok(codePoints(text) > 300 && text.endsWith('…'), name);
  }
});

test('BLOCK-11: a fallback is never cut inside a placeholder', () => {
  for (let before = 585; before <= 600; before++) {
    const text = said('text', { md: `${'a'.repeat(before)}⟦email_12⟧ and more, ${'b'.repeat(30)}` });
    assert.doesNotMatch(text, /⟦(?!email_12⟧)/);
    assert.ok(codePoints(text) <= 600);
  }
});

test('BLOCK-11: nor are the words before the answer of a block that was answered', () => {
  for (let before = 1; before <= 40; before++) {
    const labels = [
      ...Array.from({ length: 9 }, () => 'x'.repeat(25)),
      `${'y'.repeat(before)} ⟦email_12⟧`,
      ...Array(9).fill('z'.repeat(25)),
    ];
    const options = labels.map((label, at) => ({ id: `o${at}`, label }));
    const text = said('choice', { ...fullExample('choice'), options, status: 'answered', selected_ids: ['o0'] });
    assert.match(text, /\(Answered: x{25}\.\)$/);
    assert.doesNotMatch(text, /⟦(?!email_12⟧)/, String(before));
  }
});

test('BLOCK-11: Pick: the fallback of an answered block says the answer', () => {
  const answered = (name: string, ids: readonly string[]) => said(name, { ...fullExample(name), status: 'answered', selected_ids: ids });
  assert.match(answered('choice', ['a']), /\(Answered: Blue\.\)$/);
  assert.match(answered('quick_replies', ['return']), /\(Answered: Return it\.\)$/);
  assert.match(answered('rating', ['4']), /\(Answered: 4 of 5\.\)$/);
  assert.match(answered('variant_picker', ['s40', 'red']), /\(Answered: 40, Red\.\)$/);
  assert.match(answered('datetime_slots', ['d1']), /\(Answered: 2026-11-20 09:00\.\)$/);
  assert.doesNotMatch(said('choice', fullExample('choice')), /Answered/);
});

test('BLOCK-11: the fallback of a settled card says how it was settled', () => {
  const card = (status: string) => said('confirm_card', { ...fullExample('confirm_card'), status });
  assert.match(card('confirmed'), /^Confirmed\./);
  assert.match(card('declined'), /^Declined; nothing was done\./);
  assert.match(card('expired'), /^Expired without an answer; nothing was done\./);
});

test('BLOCK-11: fallbackText of a name the catalog does not have is empty', () => {
  assert.equal(fallbackText('hologram', {} as Body), '');
});
