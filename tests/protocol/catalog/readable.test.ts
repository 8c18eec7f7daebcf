/** What is left of a body that no schema lets through: what people can read of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, readableWords } from '../../../protocol/catalog/catalog.ts';
import { type Example, MODEL_EXAMPLES } from './examples.ts';

/** Bodies as models get them wrong, and what is said in their place. */
const BROKEN: readonly (readonly [name: string, written: unknown, said: string])[] = [
  [
    'datetime_slots',
    {
      prompt: 'When suits you?',
      timezone: 'CET',
      days: [
        {
          date: '2026-11-20',
          slots: [
            { id: 'a', start: '2026-11-20T09:30:00+01:00', available: true },
            { id: 'b', start: '2026-11-20T10:00:00+01:00', available: false },
          ],
        },
        { date: '2026-11-21', slots: [{ id: 'c', start: '2026-11-21T09:30:00+01:00', available: false }] },
      ],
    },
    'When suits you?\n\nCET\n\n- 2026-11-20, 2026-11-20 09:30',
  ],
  [
    'contact',
    {
      name: 'Teehaus',
      channels: [
        { kind: 'website', value: 'www.teehaus.example', label: 'Our shop' },
        { kind: 'tel', value: '+49 30 1234567' },
      ],
    },
    'Teehaus\n\n- Our shop: www.teehaus.example\n- +49 30 1234567',
  ],
  ['contact', { name: 'Teehaus', website: 'https://teehaus.example/' }, 'Teehaus\n\nhttps://teehaus.example/'],
  [
    'pass',
    { kind: 'concert', title: 'Evening', barcode: { format: 'QR', value: 'T-0042' }, fields: [{ value: '12A', label: 'Seat' }] },
    'Evening\n\nT-0042\n\n- Seat: 12A',
  ],
  ['key_points', { points: JSON.stringify([{ text: 'Two days.', tone: 'success' }]) }, '- Two days.'],
  [
    'info_card',
    { title: 'Paid', md: 'It is **done**.\n\nThanks.', tone: 'great', actions: ['call'] },
    'Paid\n\nIt is **done**.\n\nThanks.',
  ],
  [
    'comparison',
    { columns: [{ name: 'One' }, { name: 'Two' }], rows: [{ label: 'Price', values: [{ amount: 5, currency: 'EUR' }, 'free', true] }] },
    '- One\n- Two\n\n- Price: 5 EUR, free, yes',
  ],
  [
    'order_tracker',
    {
      order_id: 'A-1',
      status: 'on_its_way',
      eta: 'today 14:00-16:00',
      items: [{ name: 'Kettle', quantity: 2, price: { amount: '12.50', currency: 'EUR' } }],
    },
    'A-1\n\ntoday 14:00-16:00\n\n- 2 × Kettle: 12.50 EUR',
  ],
  ['quick_replies', { replies: ['Yes', 'No, thanks'] }, '- Yes\n- No, thanks'],
  ['form', { fields: [{ name: 'size', label: 'Size', type: 'enum', options: ['Small', 'Large'] }] }, '- Size: Small, Large'],
  [
    'actions',
    {
      buttons: [
        { kind: 'website', label: 'Shop', target: 'https://kettle.example' },
        { kind: 'open_screen', label: 'Orders', target: 'orders' },
      ],
    },
    '- Shop: https://kettle.example\n- Orders',
  ],
  [
    'variant_picker',
    {
      product_id: 'p1',
      title: 'Runner',
      axes: [
        {
          id: 'size',
          label: 'Size',
          display: 'chips',
          options: [
            { id: 's', label: '40' },
            { id: 't', label: '41', disabled: true },
          ],
        },
      ],
      variants: [{ id: 'v', option_ids: ['s'], price: { amount: '9.00', currency: 'EUR' }, available: true }],
    },
    'Runner\n\n- Size: 40, 41 (not available)',
  ],
  ['code', { language: 'json', code: '{"a": 1}', copy: true }, '```\n{"a": 1}\n```'],
  [
    'checklist',
    {
      items: [
        { label: 'Rinse it', done: true },
        { label: 'Dry it', done: false },
      ],
    },
    '- ☑ Rinse it\n- ☐ Dry it',
  ],
  ['tags', 'success', ''],
  ['tags', null, ''],
  ['tags', { items: { a: { label: 'Vegan' }, b: { label: 'Cold' } } }, '- Vegan\n- Cold'],
];

test('MODEL-31: a body that cannot be repaired is told by what people read of it, labels before values, in order', () => {
  for (const [name, written, said] of BROKEN) assert.equal(readableWords(name, written), said, name);
});

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Every place of a body that a break may strike: its parent, and its key there. */
function places(tree: Tree, depth = 0): { parent: Tree; key: string; depth: number }[] {
  return Object.keys(tree).flatMap((key) => {
    const value = tree[key];
    return [{ parent: tree, key, depth }, ...(isTree(value) ? places(value, depth + 1) : [])];
  });
}

/** Words that the schemas have for themselves, and keys. */
const SCHEMA_WORDS = new Set<string>();
for (const { parameters } of CATALOG.values()) {
  const visit = (node: unknown) => {
    if (!isTree(node)) return;
    if (Array.isArray(node.enum)) for (const word of node.enum) SCHEMA_WORDS.add(String(word));
    if (isTree(node.properties)) for (const key of Object.keys(node.properties)) SCHEMA_WORDS.add(key);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parameters);
}

const READ = new Set(['title', 'label', 'text', 'prompt', 'detail', 'subtitle', 'summary', 'role', 'hours', 'alt']);

/** Texts that a body has at these keys, pictures aside. */
function textsOf(tree: unknown, key = ''): string[] {
  if (typeof tree === 'string') return READ.has(key) ? [tree.replaceAll(/\s+/g, ' ').trim()] : [];
  if (!isTree(tree) || key === 'image' || 'url' in tree || tree.available === false) return [];
  return Object.entries(tree).flatMap(([name, value]) => textsOf(value, name));
}

const WRONG = fc.constantFrom<unknown>(
  undefined,
  null,
  7,
  true,
  [],
  {},
  'success',
  'open_screen',
  'out_for_delivery',
  { kind: 'info' },
  [7],
);
const broken = fc
  .record({
    name: fc.constantFrom(...Object.keys(MODEL_EXAMPLES).filter((name) => CATALOG.get(name)?.offered === true && name !== 'code')),
    breaks: fc.array(fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'stringify', 'rename', 'add'), wrong: WRONG }), {
      minLength: 1,
      maxLength: 4,
    }),
    which: fc.nat(),
  })
  .map(({ name, breaks, which }) => {
    const examples = MODEL_EXAMPLES[name] as readonly Example[];
    const body = structuredClone(examples[which % examples.length]) as Tree;
    let isReplaced = false;
    for (const { at, how, wrong } of breaks) {
      const all = places(body);
      const { parent, key } = all[at % all.length] ?? { parent: body, key: 'x' };
      const value = parent[key];
      // A text for a text, or for what is called by one, says what it says.
      const isText = typeof wrong === 'string' && (typeof value === 'string' || Array.isArray(parent));
      if (how === 'replace') {
        if (isText || isReplaced) continue;
        isReplaced = true;
        parent[key] = structuredClone(wrong);
      } else if (how === 'stringify' && isTree(value)) parent[key] = JSON.stringify(value);
      else if (how === 'add' && !Array.isArray(parent)) parent.component_kind = 'success';
      else if (how === 'rename' && !Array.isArray(parent) && !READ.has(key)) {
        delete parent[key];
        parent[`${key}_x`] = value;
      }
    }
    return { name, body };
  });

describe('MODEL-31: however a body is broken', () => {
  test('no key, no word of a schema and no JSON is said', () => {
    fc.assert(
      fc.property(broken, ({ name, body }) => {
        const said = readableWords(name, body);
        assert.doesNotMatch(said, /\{"|\["|":|undefined|null|\[object/);
        const own = new Set(JSON.stringify(body).match(/[^"\\]+/g));
        for (const part of said.split(/\n+|, |: /)) {
          const word = part.replace(/^- /, '').trim();
          const isText = textsOf(body).includes(word) || !own.has(word);
          assert.ok(isText || !SCHEMA_WORDS.has(word), `${name} says ${word}: ${JSON.stringify(body)}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('the texts that are where they belong are all said', () => {
    fc.assert(
      fc.property(broken, ({ name, body }) => {
        const said = readableWords(name, body);
        for (const text of textsOf(body))
          if (!SCHEMA_WORDS.has(text) && !/^[[{]/.test(text))
            assert.ok(said.includes(text), `${name} lacks ${text} of ${JSON.stringify(body)}: ${said}`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('whatever is written, it does not throw and is bounded in time', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CATALOG.keys()), fc.anything(), (name, body) => typeof readableWords(name, body) === 'string'),
    );
    let deep: unknown = 'x y';
    for (let depth = 0; depth < 10_000; depth++) deep = [deep];
    assert.equal(readableWords('tags', deep), '');
  });
});

test('MODEL-31: a field whose name every object has is told like any other', () => {
  const told = (name: string) => readableWords('info_card', JSON.parse(`{"${name}":{"name":"Peter Pan","a":"He lives here."}}`));
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(told(name), told('zzz'), name);
  assert.match(told('zzz'), /Peter Pan/);
});
