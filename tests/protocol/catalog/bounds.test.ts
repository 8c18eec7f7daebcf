/** Every bound of the table in docs/catalog.md: a body at the limit passes there, one over is refused there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateBody } from '../../../protocol/catalog/catalog.ts';
import { MODEL_EXAMPLES, serverFields } from './examples.ts';

type Bound = { readonly chars: number } | { readonly items: readonly [number, number] } | { readonly range: readonly [number, number] };
const chars = (max: number): Bound => ({ chars: max });
const items = (min: number, max: number): Bound => ({ items: [min, max] });
const range = (min: number, max: number): Bound => ({ range: [min, max] });

const OPTION = (at: string): [string, Bound][] => [
  [`${at}.id`, chars(64)],
  [`${at}.label`, chars(60)],
  [`${at}.description`, chars(120)],
  [`${at}.badge`, chars(20)],
];
const ACTION = (at: string): [string, Bound][] => [[`${at}.label`, chars(24)]];

const BOUNDS: Readonly<Record<string, readonly (readonly [string, Bound])[]>> = {
  text: [['md', chars(8_000)]],
  section: [
    ['title', chars(80)],
    ['md', chars(2_000)],
    ['icon', chars(40)],
  ],
  key_points: [
    ['title', chars(80)],
    ['points', items(1, 7)],
    ['points.0.text', chars(200)],
    ['points.0.sources', items(0, 3)],
  ],
  quick_replies: [
    ['replies', items(1, 6)],
    ['replies.0.id', chars(64)],
    ['replies.0.label', chars(24)],
  ],
  choice: [
    ['prompt', chars(200)],
    ['options', items(2, 24)],
    ...OPTION('options.0'),
    ['options.0.image.alt', chars(200)],
    ['min', range(0, 24)],
    ['max', range(1, 24)],
    ['other.label', chars(40)],
    ['submit_label', chars(24)],
  ],
  tags: [
    ['label', chars(40)],
    ['items', items(1, 12)],
    ['items.0.label', chars(24)],
  ],
  actions: [['buttons', items(1, 5)], ...ACTION('buttons.0'), ['buttons.0.target', chars(2_048)]],
  screens: [
    ['items', items(1, 4)],
    ['items.0.title', chars(60)],
    ['items.0.description', chars(120)],
  ],
  confirm_card: [
    ['title', chars(80)],
    ['summary', chars(300)],
    ['fields', items(0, 20)],
    ['fields.0.label', chars(40)],
    ['fields.0.display', chars(200)],
    ['confirm_label', chars(24)],
    ['decline_label', chars(24)],
    ['type_to_confirm', chars(60)],
  ],
  order_tracker: [
    ['order_id', chars(64)],
    ['steps', items(2, 8)],
    ['steps.0.label', chars(40)],
    ['carrier', chars(40)],
    ['tracking_number', chars(64)],
    ['items', items(0, 10)],
    ['items.0.name', chars(80)],
    ['actions', items(0, 2)],
    ...ACTION('actions.0'),
  ],
  timeline: [
    ['title', chars(80)],
    ['events', items(1, 20)],
    ['events.0.title', chars(80)],
    ['events.0.detail', chars(200)],
  ],
  checklist: [
    ['title', chars(80)],
    ['items', items(1, 20)],
    ['items.0.label', chars(120)],
    ['items.0.detail', chars(200)],
  ],
  comparison: [
    ['columns', items(2, 4)],
    ['columns.0.name', chars(40)],
    ['columns.0.badge', chars(20)],
    ['rows', items(1, 12)],
    ['rows.0.label', chars(40)],
    ['rows.0.values.0', chars(80)],
  ],
  key_value: [
    ['title', chars(80)],
    ['rows', items(1, 20)],
    ['rows.0.label', chars(40)],
    ['rows.0.value', chars(200)],
  ],
  info_card: [
    ['title', chars(80)],
    ['md', chars(1_000)],
    ['actions', items(0, 3)],
  ],
  item_list: [
    ['title', chars(80)],
    ['items', items(1, 20)],
    ['items.0.title', chars(80)],
    ['items.0.subtitle', chars(120)],
    ['items.0.badge', chars(20)],
    ...ACTION('items.0.tap'),
  ],
  place_card: [
    ['name', chars(80)],
    ['address', chars(200)],
    ['lat', range(-90, 90)],
    ['lng', range(-180, 180)],
    ['category', chars(40)],
    ['rating', range(0, 5)],
    ['price_level', range(1, 4)],
    ['hours', items(0, 7)],
    ['hours.0', chars(60)],
    ['actions', items(0, 3)],
  ],
  map: [
    ['markers', items(1, 20)],
    ['markers.0.label', chars(40)],
    ['markers.0.lat', range(-90, 90)],
    ['zoom', range(1, 20)],
    ['polyline', chars(4_096)],
    ['alt', chars(300)],
  ],
  pass: [
    ['title', chars(60)],
    ['barcode.value', chars(1_024)],
    ['barcode.alt', chars(64)],
    ['fields', items(0, 8)],
    ['fields.0.label', chars(40)],
    ['fields.0.value', chars(80)],
  ],
  code: [
    ['language', chars(20)],
    ['code', chars(8_000)],
    ['filename', chars(80)],
  ],
  contact: [
    ['name', chars(80)],
    ['role', chars(60)],
    ['channels', items(1, 5)],
    ['channels.3.value', chars(254)],
    ['channels.0.label', chars(40)],
    ['hours', chars(120)],
  ],
  rating: [['prompt', chars(160)]],
  disclosure: [
    ['summary', chars(120)],
    ['md', chars(4_000)],
  ],
  variant_picker: [
    ['product_id', chars(64)],
    ['title', chars(80)],
    ['axes', items(1, 3)],
    ['axes.0.label', chars(40)],
    ['axes.0.options', items(1, 24)],
    ...OPTION('axes.0.options.0'),
    ['variants', items(1, 100)],
  ],
  datetime_slots: [
    ['prompt', chars(200)],
    ['days', items(1, 14)],
    ['days.0.slots', items(1, 24)],
  ],
  form: [
    ['title', chars(80)],
    ['fields', items(1, 12)],
    ['fields.0.label', chars(60)],
    ['fields.7.options', items(1, 50)],
    ['fields.0.error', chars(120)],
    ['submit_label', chars(24)],
  ],
};

type Tree = Record<string, unknown>;

function at(tree: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => (node as Tree | undefined)?.[key], tree);
}

/** A copy of the component's first example that has the place, with `value` put there. */
function bodyWith(name: string, keys: readonly string[], value: unknown): unknown {
  const parent = keys.slice(0, -1);
  const example = (MODEL_EXAMPLES[name] ?? []).find((one) => typeof at(one, parent) === 'object');
  assert.ok(example, `no example of ${name} has ${parent.join('.')}`);
  const body = { ...serverFields(name, 'blk_1'), ...structuredClone(example) };
  (at(body, parent) as Tree)[keys.at(-1) ?? ''] = value;
  return body;
}

/** `count` items like the example's first; whatever names an item is made unique. */
function listOf(name: string, keys: readonly string[], count: number): unknown[] {
  const first = (MODEL_EXAMPLES[name] ?? []).map((one) => at(one, [...keys, '0'])).find((item) => item !== undefined);
  assert.notEqual(first, undefined, `no example of ${name} has an item in ${keys.join('.')}`);
  return Array.from({ length: count }, (_unused, index) => {
    if (typeof first === 'string') return `${first} ${index}`;
    const item = structuredClone(first) as Tree;
    for (const key of ['id', 'param', 'name']) if (key in item) item[key] = `n${index}`;
    if ('date' in item) item.date = `2026-12-${String(index + 1).padStart(2, '0')}`;
    return item;
  });
}

function messagesAt(name: string, path: string, body: unknown): string[] {
  const result = validateBody(name, body);
  const rendered = path.replaceAll(/\.(\d+)/g, '[$1]');
  return result.ok ? [] : result.details.filter((detail) => detail.path === rendered).map((detail) => detail.message);
}

for (const [name, bounds] of Object.entries(BOUNDS)) {
  for (const [path, bound] of bounds) {
    const keys = path.split('.');
    const check = (value: unknown) => messagesAt(name, path, bodyWith(name, keys, value));
    if ('chars' in bound) {
      test(`BLOCK-4: ${name}.${path}: at most ${bound.chars} characters, counted in code points`, () => {
        // Two UTF-16 units each: one more than half the limit would already be too long if units were counted.
        assert.deepEqual(check('𝒜'.repeat(bound.chars)), []);
        assert.equal(check('𝒜'.repeat(bound.chars + 1)).length, 1);
        assert.equal(check('a'.repeat(bound.chars + 1)).length, 1);
      });
    } else if ('items' in bound) {
      const [least, most] = bound.items;
      test(`BLOCK-4: ${name}.${path}: ${least} to ${most} items`, () => {
        const list = (count: number) => check(listOf(name, keys, count)).filter((message) => message.startsWith('must hold'));
        assert.deepEqual([list(least), list(most)], [[], []]);
        assert.deepEqual(list(most + 1), [`must hold at most ${most} items`]);
        if (least > 0) assert.equal(list(least - 1).length, 1);
      });
    } else if ('range' in bound) {
      const [low, high] = bound.range;
      test(`BLOCK-4: ${name}.${path}: ${low} to ${high}`, () => {
        const outside = (value: number) => check(value).filter((message) => message.includes(`from ${low} to ${high}`)).length > 0;
        assert.deepEqual([low, high].map(outside), [false, false]);
        assert.deepEqual([low - 1, high + 1].map(outside), [true, true]);
      });
    }
  }
}

test('BLOCK-8: datetime_slots: at most 100 slots in all', () => {
  const days = (counts: readonly number[]) => ({
    ...(bodyWith('datetime_slots', ['prompt'], 'When?') as Tree),
    days: counts.map((count, day) => ({
      date: `2026-12-0${day + 1}`,
      slots: Array.from({ length: count }, (_unused, index) => ({
        id: `s${day}-${index}`,
        start: '2026-12-01T09:00:00Z',
        available: true,
      })),
    })),
  });
  assert.equal(validateBody('datetime_slots', days([24, 24, 24, 24, 4])).ok, true);
  assert.deepEqual(messagesAt('datetime_slots', 'days', days([24, 24, 24, 24, 5])), ['must hold at most 100 slots in all, not 101']);
});

test('BLOCK-4: screens.params and addresses: at most 8 parameters, 2,048 characters', () => {
  const params = (count: number) => Object.fromEntries(Array.from({ length: count }, (_unused, index) => [`p${index}`, index]));
  const path = ['items', '0', 'params'];
  assert.deepEqual(messagesAt('screens', 'items.0.params', bodyWith('screens', path, params(8))), []);
  assert.equal(messagesAt('screens', 'items.0.params', bodyWith('screens', path, params(9))).length, 1);
  const url = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;
  for (const [name, place] of [
    ['choice', 'options.0.image.url'],
    ['order_tracker', 'tracking_url'],
  ] as const) {
    assert.deepEqual(messagesAt(name, place, bodyWith(name, place.split('.'), url(2_048))), []);
    assert.equal(messagesAt(name, place, bodyWith(name, place.split('.'), url(2_049))).length, 1);
  }
  assert.deepEqual(messagesAt('place_card', 'phone', bodyWith('place_card', ['phone'], '1'.repeat(32))), []);
  assert.equal(messagesAt('place_card', 'phone', bodyWith('place_card', ['phone'], '1'.repeat(33))).length, 1);
});
