/** What is mended of a body that is nearly right, and what is not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, modelBody } from '../../../protocol/catalog/catalog.ts';
import type { Routes } from '../../../protocol/catalog/component.ts';
import { projectRoot } from '../../support/project-root.ts';
import { MODEL_EXAMPLES } from './examples.ts';

const ROUTES: Routes = new Map([
  ['orders', { params: {} }],
  ['order', { params: { id: { type: 'string', required: true } } }],
]);

function made(name: string, written: unknown) {
  return modelBody(name, written, { blockId: 'b', routes: ROUTES });
}

const SLOT = { id: 'a', start: '2026-11-20T09:30:00+01:00', available: true };
const slots = (start: string) => ({
  prompt: 'When?',
  timezone: 'Europe/Madrid',
  days: [{ date: '2026-11-20', slots: [{ ...SLOT, start }] }],
});
const button = (kind: string, target: string) => ({ buttons: [{ kind, label: 'Go', target }] });

const ORDER = {
  order_id: 'A',
  steps: [
    { label: 'Packed', state: 'done' },
    { label: 'Sent', state: 'current' },
  ],
};

/** The table: what is mended, as written, and as if it had been written so. */
const MENDED: readonly (readonly [rule: string, name: string, written: unknown, meant: unknown])[] = [
  [
    'null in an optional field is absent',
    'tags',
    { label: null, items: [{ id: 'a', label: 'A', tone: null }] },
    { items: [{ id: 'a', label: 'A' }] },
  ],
  [
    'an empty text in an optional field is absent',
    'place_card',
    { name: 'Shop', address: 'Mill 4', lat: 1, lng: 2, phone: '', hours: null },
    { name: 'Shop', address: 'Mill 4', lat: 1, lng: 2 },
  ],
  [
    'an unknown field without a value is left out',
    'tags',
    { items: [{ id: 'a', label: 'A', icon: null }], note: '' },
    { items: [{ id: 'a', label: 'A' }] },
  ],
  [
    'a wrong word in an optional field of words is left out',
    'key_points',
    { points: [{ text: 'Two days.', tone: 'celebratory' }] },
    { points: [{ text: 'Two days.' }] },
  ],
  [
    'a wrong layout of buttons is left out',
    'actions',
    { ...button('call', '+49301234567'), layout: 'grid' },
    button('call', '+49301234567'),
  ],
  ['blanks of a word', 'order_tracker', { ...ORDER, status: 'Out for delivery' }, { ...ORDER, status: 'out_for_delivery' }],
  ['hyphens of a word', 'order_tracker', { ...ORDER, status: 'out-for-delivery' }, { ...ORDER, status: 'out_for_delivery' }],
  ['case of a word', 'info_card', { title: 'T', md: 'M', tone: 'Success' }, { title: 'T', md: 'M', tone: 'success' }],
  [
    'another name of a kind',
    'contact',
    { name: 'A', channels: [{ kind: 'website', value: 'www.tea.example' }] },
    { name: 'A', channels: [{ kind: 'url', value: 'https://www.tea.example' }] },
  ],
  [
    'other names of a kind to call and to write to',
    'contact',
    {
      name: 'A',
      channels: [
        { kind: 'tel', value: '+49 30 901820' },
        { kind: 'mail', value: 'a@b.example' },
      ],
    },
    {
      name: 'A',
      channels: [
        { kind: 'phone', value: '+49 30 901820' },
        { kind: 'email', value: 'a@b.example' },
      ],
    },
  ],
  [
    'an address without a scheme',
    'actions',
    button('open_url', 'kettle.example/shop?a=1'),
    button('open_url', 'https://kettle.example/shop?a=1'),
  ],
  ['a number to dial with its scheme', 'actions', button('call', 'tel:+49301234567'), button('call', '+49301234567')],
  ['an e-mail address with its scheme', 'actions', button('email', 'mailto:a@b.example'), button('email', 'a@b.example')],
  [
    'a text for an item with a label; ids that are missing',
    'quick_replies',
    { replies: ['Yes', 'No'] },
    {
      replies: [
        { label: 'Yes', id: '1' },
        { label: 'No', id: '2' },
      ],
    },
  ],
  [
    'a minted id is none that is there',
    'quick_replies',
    { replies: [{ label: 'Yes' }, { id: 1, label: 'No' }] },
    {
      replies: [
        { label: 'Yes', id: '2' },
        { id: '1', label: 'No' },
      ],
    },
  ],
  ['a number for an id', 'tags', { items: [{ id: 7, label: 'A' }] }, { items: [{ id: '7', label: 'A' }] }],
  [
    'a number for an amount, a currency in small letters',
    'item_list',
    { layout: 'list', items: [{ id: 'a', title: 'A', price: { amount: 12.5, currency: 'eur' } }] },
    { layout: 'list', items: [{ id: 'a', title: 'A', price: { amount: '12.5', currency: 'EUR' } }] },
  ],
  [
    'a number, or nothing, for a cell',
    'comparison',
    {
      columns: [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B' },
      ],
      rows: [{ label: 'Seats', values: [4, null] }],
    },
    {
      columns: [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B' },
      ],
      rows: [{ label: 'Seats', values: ['4', ''] }],
    },
  ],
  ['a number as text', 'rating', { prompt: 'How?', scale: '5', style: 'stars' }, { prompt: 'How?', scale: 5, style: 'stars' }],
  [
    'a position as text',
    'map',
    { alt: 'A', markers: [{ id: 'a', label: 'A', lat: '52.5', lng: '-13.4' }] },
    { alt: 'A', markers: [{ id: 'a', label: 'A', lat: 52.5, lng: -13.4 }] },
  ],
  ['a flag as text', 'checklist', { items: [{ id: 'a', label: 'A', done: 'true' }] }, { items: [{ id: 'a', label: 'A', done: true }] }],
  [
    'a time without seconds, with a blank or with a short offset',
    'datetime_slots',
    slots('2026-11-20 09:30 +0100'),
    slots('2026-11-20T09:30:00+01:00'),
  ],
  ['a list as text', 'tags', { items: JSON.stringify([{ id: 'a', label: 'A' }]) }, { items: [{ id: 'a', label: 'A' }] }],
  [
    'an object as text',
    'item_list',
    { layout: 'list', items: [{ id: 'a', title: 'A', price: '{"amount":"12.50","currency":"EUR"}' }] },
    { layout: 'list', items: [{ id: 'a', title: 'A', price: { amount: '12.50', currency: 'EUR' } }] },
  ],
  ['one item for a list', 'tags', { items: { id: 'a', label: 'A' } }, { items: [{ id: 'a', label: 'A' }] }],
  ['a body inside a field', 'tags', { tags: { items: [{ id: 'a', label: 'A' }] } }, { items: [{ id: 'a', label: 'A' }] }],
  ['a body inside "arguments", as text', 'tags', { arguments: '{"items":[{"id":"a","label":"A"}]}' }, { items: [{ id: 'a', label: 'A' }] }],
  ['the component’s own name', 'tags', { type: 'tags', items: [{ id: 'a', label: 'A' }] }, { items: [{ id: 'a', label: 'A' }] }],
  [
    'the words of a picture, cut',
    'item_list',
    { layout: 'list', items: [{ id: 'a', title: 'A', image: { url: 'https://a.example/a.png', alt: 'x'.repeat(300) } }] },
    { layout: 'list', items: [{ id: 'a', title: 'A', image: { url: 'https://a.example/a.png', alt: `${'x'.repeat(199)}…` } }] },
  ],
];

/** By the beginning of each line of the list in docs/catalog.md: how often it is tried above. */
const LINES: Readonly<Record<string, number>> = {
  '`null` or an empty text': 3,
  'a word that does not exist': 2,
  'case, blanks and hyphens': 5,
  'a text stands for an item': 2,
  'a number becomes text': 6,
  '`eur` becomes': 2,
  'an address without a scheme': 3,
  'a list or object that was written as JSON': 3,
  'a body inside a field': 3,
  'the words of a picture': 1,
};

/** What would change what a body says stays refused, each with the place that is named. */
const REFUSED: readonly (readonly [rule: string, name: string, written: unknown, wrong: string])[] = [
  ['a fact in an unknown field', 'tags', { items: [{ id: 'a', label: 'A', note: 'Sold out' }] }, 'items[0].note must not be there'],
  ['a wrong word in a required field', 'info_card', { title: 'T', md: 'M', tone: 'celebratory' }, 'tone'],
  [
    'a text of people that is too long',
    'quick_replies',
    { replies: [{ id: 'a', label: 'x'.repeat(30) }] },
    'replies[0].label must be at most 24 characters (was 30)',
  ],
  [
    'too many items',
    'quick_replies',
    { replies: Array.from({ length: 7 }, (_, n) => ({ id: `${n}`, label: 'A' })) },
    'replies must hold at most 6 items (was 7)',
  ],
  [
    'the same id twice',
    'tags',
    {
      items: [
        { id: 'a', label: 'A' },
        { id: 'a', label: 'B' },
      ],
    },
    'items[1].id',
  ],
  ['a time without its offset', 'datetime_slots', slots('2026-11-20T09:30:00'), 'days[0].slots[0].start'],
  [
    'an amount in words',
    'item_list',
    { layout: 'list', items: [{ id: 'a', title: 'A', price: { amount: '12,50', currency: 'EUR' } }] },
    'items[0].price.amount',
  ],
  ['null in a required field', 'section', { title: null, md: 'M' }, 'title'],
  ['another scheme', 'actions', button('open_url', 'http://kettle.example'), 'buttons[0].target'],
  ['a text for a list of words', 'key_points', { points: 'Order early' }, 'points'],
  ['a screen that needs parameters', 'actions', button('open_screen', 'order'), 'buttons[0].target "order" needs parameters'],
  [
    'a screen that needs parameters, in a card',
    'info_card',
    { title: 'T', md: 'M', tone: 'info', actions: button('open_screen', 'order').buttons },
    'actions[0].target "order" needs parameters',
  ],
  [
    'a screen that needs parameters, of an order',
    'order_tracker',
    {
      order_id: 'A',
      status: 'placed',
      steps: [
        { label: 'A', state: 'current' },
        { label: 'B', state: 'pending' },
      ],
      actions: button('open_screen', 'order').buttons,
    },
    'actions[0].target "order" needs parameters',
  ],
];

describe('BLOCK-27: what is nearly right is taken for what it means', () => {
  for (const [rule, name, written, meant] of MENDED) {
    test(`BLOCK-27: ${rule} (${name})`, () => {
      const expected = made(name, meant);
      assert.ok(expected.ok, JSON.stringify(expected));
      const got = made(name, written);
      assert.deepEqual(got, expected);
    });
  }

  test('BLOCK-27: each line of the list in the catalog is tried, and nothing else is mended', () => {
    const [, list = ''] = readFileSync(join(projectRoot(), 'docs/catalog.md'), 'utf8').split('## What is mended');
    const lines = Array.from(list.matchAll(/^- (.+)$/gm), ([, line = '']) => line);
    assert.deepEqual(
      lines.map((line) => Object.keys(LINES).find((beginning) => line.startsWith(beginning)) ?? line),
      Object.keys(LINES),
    );
    // A price in small letters is a number for an amount, too.
    assert.equal(
      Object.values(LINES).reduce((sum, times) => sum + times, 0),
      MENDED.length + 1,
    );
  });

  for (const [rule, name, written, wrong] of REFUSED) {
    test(`BLOCK-27, BLOCK-5, BLOCK-10: ${rule} is not mended (${name})`, () => {
      const got = made(name, written);
      const said = got.ok ? [] : got.details.map(({ path, message }) => `${path} ${message}`);
      assert.ok(!got.ok && said.some((each) => each.startsWith(wrong.split(' must not')[0] ?? '')), JSON.stringify(got));
    });
  }

  test('BLOCK-27: a body that is right stays as it is', () => {
    for (const [name, examples] of Object.entries(MODEL_EXAMPLES)) {
      if (CATALOG.get(name)?.offered !== true) continue;
      for (const example of examples) {
        const written = JSON.stringify(example);
        const got = modelBody(name, example, { blockId: 'b' });
        assert.ok(got.ok, JSON.stringify(got));
        assert.equal(JSON.stringify(example), written, 'nothing is changed in place');
        for (const [field, value] of Object.entries(example))
          if (field !== 'md') assert.deepEqual(got.body[field], value, `${name}.${field}`);
      }
    }
  });

  test('BLOCK-27: a word that every object knows is a word like any other', () => {
    for (const word of ['constructor', '__proto__', 'toString']) {
      assert.equal(made('actions', button(word, 'x')).ok, false, word);
      assert.equal(made('tags', { items: [{ id: 'a', label: word, tone: word }] }).ok, true, word);
    }
  });

  test('BLOCK-27: what cannot be made a text is refused, and so is a body of more values than any component takes', () => {
    const unsayable = { toString: 1, valueOf: {} };
    for (const written of [
      { items: [{ id: unsayable, label: 'A' }] },
      { buttons: [{ kind: unsayable, label: 'Go', target: 'x' }] },
      { name: 'A', channels: [{ kind: unsayable, value: 'www.tea.example' }] },
    ])
      for (const name of CATALOG.keys()) assert.equal(made(name, written).ok, false, name);
    const many = (length: number) => Array.from({ length }, () => ({}));
    for (const [name, written] of [
      ['actions', { buttons: many(129) }],
      ['comparison', { rows: JSON.stringify(many(129)) }],
      ['comparison', { body: JSON.stringify({ rows: many(40).map(() => ({ values: many(100) })) }) }],
    ] as const) {
      const got = made(name, written);
      assert.match(got.ok ? '' : (got.details[0]?.message ?? ''), /^must hold at most 3000 values in all/, name);
    }
    const variants = Array.from({ length: 100 }, (_, n) => ({
      id: `v${n}`,
      option_ids: JSON.stringify([`s${n}`]),
      price: '{"amount":"1.00","currency":"EUR"}',
    }));
    const axes = [{ id: 'size', label: 'Size', options: variants.map((_, n) => ({ id: `s${n}`, label: `${n}` })) }];
    const picked = made('variant_picker', { title: 'T', prompt: 'Which?', axes, variants });
    assert.ok(!picked.ok || picked.body !== undefined);
    assert.doesNotMatch(JSON.stringify(picked), /must be an (?:array|object)/, 'a text that is JSON costs nothing of the bound');
  });

  test('BLOCK-27: whatever is written, it is a body or a refusal', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CATALOG.keys()),
        fc.oneof(fc.jsonValue(), fc.anything()),
        (name, written) => typeof made(name, written).ok === 'boolean',
      ),
    );
  });
});
