/** Rules across fields and kinds of values: each is broken once, and the detail names the place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { blockSchema } from '../../../protocol/catalog/block.ts';
import { validateBody } from '../../../protocol/catalog/catalog.ts';
import { explain } from '../../../protocol/schema/issues.ts';
import { fullExample } from './examples.ts';

type Tree = Record<string, unknown>;

/** The paths that are wrong in the component's example once `change` has been at it. */
function wrongAfter(name: string, changes: Readonly<Record<string, unknown>>): string[] {
  const body = structuredClone(fullExample(name)) as Tree;
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce<Tree>((node, key) => node[key] as Tree, body);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  const result = validateBody(name, body);
  return result.ok ? [] : result.details.map((detail) => detail.path);
}

const CASES: readonly (readonly [rule: string, name: string, changes: Readonly<Record<string, unknown>>, wrong: readonly string[]])[] = [
  ['choice: min is at most max', 'choice', { mode: 'multi', min: 2, max: 1 }, ['min']],
  ['choice: max is at most the number of options', 'choice', { mode: 'multi', max: 3 }, ['max']],
  ['choice: min is at most the number of options', 'choice', { mode: 'multi', min: 3 }, ['min']],
  ['choice: min and max may equal the number of options', 'choice', { mode: 'multi', min: 2, max: 2 }, []],
  ['choice: a single choice takes one', 'choice', { max: 2 }, ['max']],
  ['choice: option ids are unique', 'choice', { 'options.1.id': 'a' }, ['options[1].id']],
  ['quick_replies: ids are unique', 'quick_replies', { 'replies.1.id': 'track' }, ['replies[1].id']],
  [
    'tags: ids are unique',
    'tags',
    {
      items: [
        { id: 'a', label: 'A' },
        { id: 'a', label: 'B' },
      ],
    },
    ['items[1].id'],
  ],
  ['checklist: ids are unique', 'checklist', { 'items.1.id': 'a' }, ['items[1].id']],
  ['map: ids are unique', 'map', { markers: [1, 2].map(() => ({ id: 'm', lat: 0, lng: 0, label: 'M' })) }, ['markers[1].id']],
  ['item_list: ids are unique', 'item_list', { items: [1, 2].map(() => ({ id: 'm', title: 'M' })) }, ['items[1].id']],
  ['comparison: column ids are unique', 'comparison', { 'columns.0.id': 'pro' }, ['columns[1].id']],
  ['comparison: one value for each column', 'comparison', { 'rows.1.values': [true, true, true] }, ['rows[1].values']],
  ['comparison: the recommended one is a column', 'comparison', { recommended_id: 'gold' }, ['recommended_id']],
  ['comparison: a value is a string, a boolean or Money', 'comparison', { 'rows.1.values.0': 3 }, ['rows[1].values[0]']],
  ['confirm_card: params are unique', 'confirm_card', { 'fields.1.param': 'order_id' }, ['fields[1].param']],
  ['confirm_card: a read action has none', 'confirm_card', { risk: 'read' }, ['risk']],
  ['order_tracker: eta ends after it begins', 'order_tracker', { 'eta.until': '2026-11-20T13:59:59+01:00' }, ['eta.until']],
  ['order_tracker: an eta is compared across offsets', 'order_tracker', { 'eta.until': '2026-11-20T13:30:00Z' }, []],
  ['order_tracker: quantity is a whole number from 1', 'order_tracker', { 'items.0.quantity': 0 }, ['items[0].quantity']],
  ['pass: it ends after it begins', 'pass', { valid_until: '2026-11-20T17:00:00+01:00' }, ['valid_until']],
  [
    'variant_picker: a variant names options of the axes',
    'variant_picker',
    { 'variants.1.option_ids': ['s41', 'pink'] },
    ['variants[1].option_ids'],
  ],
  [
    'variant_picker: a variant names one option of each axis',
    'variant_picker',
    { 'variants.1.option_ids': ['s41'] },
    ['variants[1].option_ids'],
  ],
  ['variant_picker: not two of one axis', 'variant_picker', { 'variants.1.option_ids': ['s40', 's41'] }, ['variants[1].option_ids']],
  ['variant_picker: variant ids are unique', 'variant_picker', { 'variants.1.id': 'v1' }, ['variants[1].id']],
  ['variant_picker: axis ids are unique', 'variant_picker', { 'axes.1.id': 'size' }, ['axes[1].id']],
  [
    'variant_picker: option ids are unique over the axes',
    'variant_picker',
    { 'axes.1.options.1.id': 's40', 'variants.2.option_ids': ['s41', 'red'] },
    ['axes[1].options[1].id', 'variants[0].option_ids'],
  ],
  ['variant_picker: hex is a colour', 'variant_picker', { 'axes.1.options.0.hex': 'red' }, ['axes[1].options[0].hex']],
  ['variant_picker: quantity min is at most max', 'variant_picker', { quantity: { min: 4, max: 3 } }, ['quantity.min']],
  ['datetime_slots: slot ids are unique over the days', 'datetime_slots', { 'days.0.slots.1.id': 'd1' }, ['days[0].slots[1].id']],
  [
    'datetime_slots: a slot ends after it begins',
    'datetime_slots',
    { 'days.0.slots.0.end': '2026-11-20T08:00:00+01:00' },
    ['days[0].slots[0].end'],
  ],
  ['form: names are unique', 'form', { 'fields.1.name': 'name' }, ['fields[1].name']],
  ['form: a select has options', 'form', { 'fields.7.options': undefined }, ['fields[7].options']],
  ['form: only a select has options', 'form', { 'fields.0.options': ['a'] }, ['fields[0].options']],
  ['form: options are unique', 'form', { 'fields.7.options': ['ES', 'ES'] }, ['fields[7].options[1]']],
  ['form: min is at most max', 'form', { 'fields.0.min': 81 }, ['fields[0].min']],
  ['form: a date is bounded by dates', 'form', { 'fields.4.min': 3 }, ['fields[4].min']],
  ['form: a text is bounded by whole numbers', 'form', { 'fields.0.max': 2.5 }, ['fields[0].max']],
  ['form: a boolean has no bounds', 'form', { 'fields.3.min': 0 }, ['fields[3].min']],
  ['contact: a url is http(s)', 'contact', { 'channels.2.value': 'javascript:alert(1)' }, ['channels[2].value']],
  ['contact: a chat is no link in another scheme', 'contact', { 'channels.3.value': 'javascript:alert(1)' }, ['channels[3].value']],
  ['contact: an email is one', 'contact', { 'channels.0.value': 'ana at example' }, ['channels[0].value']],
  ['contact: placeholders stand for addresses', 'contact', { 'channels.0.value': '⟦email_1⟧' }, []],
  ['rating: scale is 3, 5 or 10', 'rating', { scale: 4 }, ['scale']],
  ['tags: a tone is one of five', 'tags', { 'items.0.tone': 'pink' }, ['items[0].tone']],
  ['actions: a kind is one of six', 'actions', { 'buttons.0.kind': 'eval' }, ['buttons[0].kind']],
  ['actions: open_url is https', 'actions', { 'buttons.2.target': 'http://example.com' }, ['buttons[2].target']],
  ['actions: call takes a phone number', 'actions', { 'buttons.3.target': 'javascript:1' }, ['buttons[3].target']],
  ['actions: email takes an address', 'actions', { 'buttons.4.target': 'nobody' }, ['buttons[4].target']],
  ['actions: open_screen takes no link', 'actions', { 'buttons.1.target': 'myapp://orders' }, ['buttons[1].target']],
  ['order_tracker: tracking_url may be http', 'order_tracker', { tracking_url: 'http://example.com/t' }, []],
  ['order_tracker: tracking_url is http(s)', 'order_tracker', { tracking_url: 'ftp://example.com/t' }, ['tracking_url']],
];

for (const [rule, name, changes, wrong] of CASES) {
  test(`BLOCK-4: ${rule}`, () => assert.deepEqual(wrongAfter(name, changes), wrong));
}

test('BLOCK-7: Image: https only, and an address a parser reads as it stands', () => {
  for (const url of [
    'http://x.example/a.png',
    'data:image/png;base64,AA',
    '//x.example/a',
    'https://',
    'https://x.example/a b',
    'https://x.exa\tmple/',
  ]) {
    assert.deepEqual(wrongAfter('choice', { 'options.0.image.url': url }), ['options[0].image.url'], url);
  }
  assert.deepEqual(wrongAfter('choice', { 'options.0.image.url': 'HTTPS://x.example/é.png?a=1#b' }), []);
});

test('BLOCK-7: Money: a decimal string and an ISO 4217 code', () => {
  const price = (amount: unknown, currency: unknown) => wrongAfter('item_list', { 'items.0.price': { amount, currency } });
  for (const amount of ['0', '12.5', '-3.00', '999999999999.9999']) assert.deepEqual(price(amount, 'JPY'), [], amount);
  for (const amount of ['', '1,50', '1.', '.5', '01', '1e3', '12.34567', '€5', 5])
    assert.deepEqual(price(amount, 'EUR'), ['items[0].price.amount'], String(amount));
  for (const currency of ['eur', '€', 'EURO', '', 978])
    assert.deepEqual(price('1', currency), ['items[0].price.currency'], String(currency));
});

test('BLOCK-7: time: RFC 3339 with offset, and a moment that exists', () => {
  const at = (value: unknown) => wrongAfter('timeline', { 'events.0.at': value });
  for (const time of ['2024-02-29T00:00:00Z', '2026-11-20T23:59:59.123+05:30', '2026-01-01T00:00:00-11:00'])
    assert.deepEqual(at(time), [], time);
  for (const time of [
    '2026-11-20',
    '2026-11-20T09:00:00',
    '2026-02-29T09:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20 09:00:00Z',
    'soon',
    0,
  ]) {
    assert.deepEqual(at(time), ['events[0].at'], String(time));
  }
});

test('BLOCK-8: datetime_slots: an IANA time zone and dates that exist', () => {
  for (const zone of ['UTC', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires'])
    assert.deepEqual(wrongAfter('datetime_slots', { timezone: zone }), [], zone);
  for (const zone of ['Mars/Olympus', '+01:00', 'Europe'])
    assert.deepEqual(wrongAfter('datetime_slots', { timezone: zone }), ['timezone'], zone);
  for (const date of ['2026-02-30', '20-11-2026', '2026-11-20T00:00:00Z'])
    assert.deepEqual(wrongAfter('datetime_slots', { 'days.0.date': date }), ['days[0].date'], date);
});

test('BLOCK-4: numbers: JSON can overflow to infinity, which no field takes', () => {
  assert.deepEqual(wrongAfter('place_card', { lat: JSON.parse('1e999') }), ['lat']);
  assert.deepEqual(wrongAfter('form', { 'fields.2.max': JSON.parse('1e999') }), ['fields[2].max']);
  assert.deepEqual(wrongAfter('item_list', { total: 1.5 }), ['total']);
});

test('BLOCK-4: required texts must say something', () => {
  assert.deepEqual(wrongAfter('section', { title: '', md: ' \n' }), ['title', 'md']);
  assert.deepEqual(wrongAfter('section', { title: undefined }), ['title']);
});

test('BLOCK-1: a block has index, id, block_type, revision from 1 and a body of its type', () => {
  const block = {
    index: 0,
    id: 'blk_1',
    block_type: 'section',
    revision: 1,
    body: fullExample('section'),
    fallback_text: 'x',
    a11y_label: 'y',
  };
  const wrong = (change: Tree) => {
    const result = v.safeParse(blockSchema, { ...block, ...change });
    return result.success ? [] : explain(result.issues).map((detail) => detail.path);
  };
  assert.deepEqual(v.parse(blockSchema, block), block);
  assert.deepEqual(wrong({ fallback_text: '𝒜'.repeat(600), a11y_label: '𝒜'.repeat(120) }), []);
  assert.deepEqual(wrong({ fallback_text: 'a'.repeat(601) }), ['fallback_text']);
  assert.deepEqual(wrong({ a11y_label: 'a'.repeat(121) }), ['a11y_label']);
  assert.deepEqual(wrong({ revision: 0 }), ['revision']);
  assert.deepEqual(wrong({ index: -1 }), ['index']);
  assert.deepEqual(wrong({ block_type: 'hologram' }), ['block_type']);
  assert.deepEqual(wrong({ block_type: 'tags' }), ['body.items', 'body.title']);
  assert.deepEqual(wrong({ body: { title: 'A' } }), ['body.md']);
  assert.deepEqual(wrong({ extra: 1 }), ['extra']);
});
