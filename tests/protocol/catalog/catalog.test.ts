/** The catalog as a whole: its names, its tools, and the way from a model's arguments to a body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, modelBody, parseHandshakeEntry, toolDefinition, validateBody } from '../../../protocol/catalog/catalog.ts';
import { type Routes, validate } from '../../../protocol/catalog/component.ts';
import { EXAMPLE_ROUTES, fullExample, MODEL_EXAMPLES, serverFields } from './examples.ts';
import { accepts } from './json-schema.ts';

/** The rows of the catalog's table. */
const NAMES = [
  'text, section, key_points, quick_replies, choice, tags, actions, screens, confirm_card, order_tracker, timeline, checklist',
  'comparison, key_value, info_card, item_list, place_card, map, pass, code, contact, rating, disclosure, variant_picker',
  'datetime_slots, form',
]
  .join(', ')
  .split(', ');
const context = { blockId: 'blk_1', routes: EXAMPLE_ROUTES };
const offered = NAMES.filter((name) => name !== 'text' && name !== 'confirm_card');

const arbitraryJson = fc.jsonValue({ maxDepth: 4 });

/** An example with some of its values, at any depth, replaced by arbitrary JSON. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  const intact = Array.isArray(value)
    ? fc.tuple(...value.map(damaged))
    : typeof value === 'object' && value !== null
      ? fc.record(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, damaged(item)])), { requiredKeys: [] })
      : fc.constant(value);
  return fc.oneof({ weight: 9, arbitrary: intact }, { weight: 1, arbitrary: arbitraryJson });
}

test('BLOCK-2: table: the catalog has exactly the named components, each of version 1', () => {
  assert.deepEqual([...CATALOG.keys()], NAMES);
  assert.deepEqual(Object.keys(MODEL_EXAMPLES).toSorted(), NAMES.toSorted());
  for (const component of CATALOG.values()) assert.equal(component.version, 1);
});

test('MODEL-2: the model is offered every component but text and confirm_card', () => {
  const names = [...CATALOG.values()].filter((component) => component.offered).map((component) => component.name);
  assert.deepEqual(names, offered);
  for (const name of ['text', 'confirm_card', 'nonesuch', 'constructor']) {
    const made = modelBody(name, MODEL_EXAMPLES.text?.[0], context);
    assert.deepEqual([made.ok, made.ok ? '' : made.details[0]?.message.includes(`"${name}"`)], [false, true]);
  }
});

test('BLOCK-2: a handshake entry is name or name@n, bare means version 1', () => {
  assert.deepEqual(parseHandshakeEntry('choice'), { name: 'choice', version: 1 });
  assert.deepEqual(parseHandshakeEntry('quick_replies@12'), { name: 'quick_replies', version: 12 });
  for (const entry of ['', '@1', 'choice@', 'choice@0', 'choice@01', 'choice@1.0', 'choice@-1', 'Choice', ' choice', 'choice@1@2', 'a\n']) {
    assert.equal(parseHandshakeEntry(entry), undefined, entry);
  }
});

for (const name of NAMES) {
  const component = CATALOG.get(name);
  assert.ok(component);
  const examples = MODEL_EXAMPLES[name] ?? [];

  test(`BLOCK-6: ${name}: its examples are valid, in the schema and in the tool's JSON Schema alike`, () => {
    for (const example of examples) {
      assert.deepEqual(validateBody(name, { ...serverFields(name, 'blk_1'), ...example }).ok, true);
      assert.equal(accepts(component.parameters, example), true);
      if (!component.offered) continue;
      const made = modelBody(name, example, context);
      assert.ok(made.ok, JSON.stringify(made));
      for (const [key, value] of Object.entries({ ...example, ...serverFields(name, 'blk_1') }))
        assert.deepEqual(made.body[key], value, key);
      assert.deepEqual(validateBody(name, made.body), made, 'a completed body is valid and stays as it is');
    }
  });

  test(`BLOCK-5: ${name}: an unknown key is refused by name, at the top and below`, () => {
    const refused = validateBody(name, { ...fullExample(name), colour_of_mood: 1 });
    assert.deepEqual(refused, { ok: false, details: [{ path: 'colour_of_mood', message: 'is not a field of this request' }] });
    assert.equal(accepts(component.parameters, { ...examples[0], colour_of_mood: 1 }), false);
    for (const [key, value] of Object.entries(examples[0] ?? {})) {
      const first = Array.isArray(value) ? value[0] : undefined;
      if (typeof first !== 'object' || first === null) continue;
      const body = { ...fullExample(name), [key]: [{ ...first, colour_of_mood: 1 }, ...(value as unknown[]).slice(1)] };
      const below = validateBody(name, body);
      assert.ok(!below.ok && below.details.some((detail) => detail.path === `${key}[0].colour_of_mood`), key);
    }
  });

  test(`BLOCK-6: ${name}: whatever its validator accepts of damaged examples, its JSON Schema accepts`, () => {
    fc.assert(
      fc.property(damaged(examples.at(-1)), (args) => {
        const made = component.offered ? validate(component.modelArgs, args) : validateBody(name, args);
        if (made.ok) assert.equal(accepts(component.parameters, args), true);
        else assert.ok(made.details.length >= 1 && made.details.length <= 12);
      }),
      { numRuns: 60 },
    );
  });
}

test('BLOCK-6: the tool of a component is an OpenAI function: an object at the top, no $schema, no reference', () => {
  for (const name of offered) {
    const component = CATALOG.get(name);
    assert.ok(component);
    const tool = toolDefinition(component);
    assert.deepEqual([tool.type, tool.function.name, tool.function.description], ['function', name, component.description]);
    assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
    assert.ok(component.description.length >= 40 && component.description.length <= 500);
    assert.equal(tool.function.parameters.type, 'object');
    assert.equal(component.parameters.additionalProperties, false);
    assert.doesNotMatch(JSON.stringify(tool), /"\$schema"|"\$ref"|"\$defs"|"oneOf"|"additionalProperties"/);
    assert.equal(component.parameters, component.parameters, 'made once');
    assert.equal(tool.function.parameters, toolDefinition(component).function.parameters, 'made once');
  }
});

test('BLOCK-5, BLOCK-13: Pick: status, selected_ids and form_id are kept by the server, a model that writes them is refused', () => {
  for (const name of ['quick_replies', 'choice', 'rating', 'variant_picker', 'datetime_slots', 'form']) {
    const example = MODEL_EXAMPLES[name]?.[0] ?? {};
    for (const key of ['status', 'selected_ids', 'form_id']) {
      const made = modelBody(name, { ...example, [key]: 'open' }, context);
      assert.ok(!made.ok && made.details[0]?.path === key, `${name}.${key}`);
      assert.equal(Object.hasOwn(CATALOG.get(name)?.parameters.properties as object, key), false);
    }
    assert.equal(validateBody(name, example).ok, false, 'a stored body has a status');
    assert.equal(validateBody(name, { ...fullExample(name), status: 'answered', selected_ids: ['a'] }).ok, true);
    assert.equal(validateBody(name, { ...fullExample(name), selected_ids: Array.from({ length: 25 }, String) }).ok, false);
  }
  const made = modelBody('form', MODEL_EXAMPLES.form?.[0], { blockId: 'blk_form' });
  assert.ok(made.ok);
  assert.equal(made.body.form_id, 'blk_form');
});

test('BLOCK-10: screens: only routes of the turn; open_screen opens only those too', () => {
  const screen = { items: [{ route: 'profile', title: 'Profile' }] };
  const button = { buttons: [{ kind: 'open_screen', label: 'Profile', target: 'profile' }] };
  const routes: Routes = new Map([['orders', { params: {} }]]);
  assert.deepEqual(modelBody('screens', screen, { blockId: 'b', routes }), {
    ok: false,
    details: [{ path: 'items[0].route', message: '"profile" is not a screen of this app: use one of orders' }],
  });
  const refused = modelBody('actions', button, { blockId: 'b', routes: new Map() });
  assert.ok(!refused.ok && refused.details[0]?.path === 'buttons[0].target');
  assert.equal(modelBody('screens', screen, { blockId: 'b', routes: new Map([['profile', { params: {} }]]) }).ok, true);
  assert.equal(modelBody('actions', button, { blockId: 'b' }).ok, true);
});

test('BLOCK-10: a screen is opened with parameters that it declares, of their types, and with all that it needs', () => {
  const params = {
    order_id: { type: 'string', required: true },
    tab: { type: 'string', required: false, enum: ['items', 'payment'] },
    page: { type: 'number', required: false },
    marked: { type: 'array', required: true },
  } as const;
  const routes: Routes = new Map([['order', { params }]]);
  const problems = (given?: Record<string, unknown>) => {
    const item = { route: 'order', title: 'Order', ...(given === undefined ? {} : { params: given }) };
    const made = modelBody('screens', { items: [item] }, { blockId: 'b', routes });
    return made.ok ? [] : made.details.map(({ path, message }) => `${path} ${message}`);
  };
  assert.deepEqual(problems({ order_id: 'A-1', tab: 'items', page: 2 }), []);
  assert.deepEqual(problems(), ['items[0].params.order_id is required']);
  assert.deepEqual(problems({ order_id: 7, tab: 'notes', page: '2', sort: 'date' }), [
    'items[0].params.order_id must be a string',
    'items[0].params.tab must be one of items, payment',
    'items[0].params.page must be a number',
    'items[0].params.sort is not a parameter of this screen',
  ]);
});

test('BLOCK-9: Action: only kinds the handshake lists, wherever an action stands; all when it lists none', () => {
  const places: [string, string][] = [
    ['actions', 'buttons[0].kind'],
    ['order_tracker', 'actions[0].kind'],
    ['info_card', 'actions[0].kind'],
    ['item_list', 'items[0].tap.kind'],
    ['place_card', 'actions[0].kind'],
  ];
  for (const [name, path] of places) {
    const example = (MODEL_EXAMPLES[name] ?? []).find((one) => JSON.stringify(one).includes('"kind"'));
    const refused = modelBody(name, example, { ...context, actionKinds: new Set(['copy']) });
    assert.ok(!refused.ok, name);
    assert.equal(refused.details[0]?.path, path);
    assert.match(refused.details[0]?.message ?? '', /is not an action this client runs: use copy$/);
    assert.equal(modelBody(name, example, { ...context, actionKinds: new Set() }).ok, true);
  }
});

test('BLOCK-5: modelBody never throws, whatever the model writes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...NAMES), fc.string()), arbitraryJson, (name, args) => {
      assert.equal(typeof modelBody(name, args, context).ok, 'boolean');
    }),
    { numRuns: 1_000 },
  );
  for (const args of [undefined, null, 'x', [], 7, JSON.parse('{"__proto__":{"md":"x"}}')]) {
    for (const name of offered) assert.equal(modelBody(name, args, context).ok, false, name);
  }
});
