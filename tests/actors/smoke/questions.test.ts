/** What a run asks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { exampleValue, smokeQuestions } from '../../../actors/smoke/questions.ts';
import { checkParams } from '../../../assistant/action-params.ts';
import { asAction } from '../../../protocol/runtime/http-action.ts';
import { type ActionParam, completeManifest, type ManifestAction } from '../../../protocol/runtime/manifest.ts';

function param(more: Partial<ActionParam> = {}): ActionParam {
  return { type: 'string', required: true, editable: false, ...more };
}

function action(name: string, params: Readonly<Record<string, ActionParam>> = {}, risk: ManifestAction['risk'] = 'read'): ManifestAction {
  return { name, description: 'Looks something up.', risk, params, timeoutMs: 1_000 };
}

const NOTHING = { suggestions: [], titles: [], actions: [] };
const origins = (configuration: Parameters<typeof smokeQuestions>[0]) => smokeQuestions(configuration).map(({ from }) => from);

describe('The questions of a smoke run', () => {
  test('SMOKE-7: suggestions, knowledge and one read action make five questions, in this order', () => {
    const questions = smokeQuestions({
      suggestions: ['Where is my order?', 'Do you ship abroad?', 'Third', 'Fourth'],
      titles: ['Shipping', 'Returns', 'Sizes'],
      actions: [action('list_orders'), action('list_shops')],
    });
    assert.deepEqual(questions, [
      { text: 'Where is my order?', from: 'suggestion' },
      { text: 'Do you ship abroad?', from: 'suggestion' },
      { text: 'What should I know about Shipping?', from: 'knowledge' },
      { text: 'What should I know about Returns?', from: 'knowledge' },
      { text: 'Please list orders.', from: 'action' },
    ]);
  });

  test('SMOKE-19: questions are in the language that the persona speaks first; in one without words of ours titles ask for themselves', () => {
    const asked = (...languages: string[]) =>
      smokeQuestions({
        ...NOTHING,
        titles: ['Versand', 'Rückgabe'],
        actions: [action('list_orders', { order_id: param({ example: 'A-1' }) })],
        languages,
      }).map(({ text }) => text);
    assert.deepEqual(asked('de', 'en'), [
      'Was sollte ich über Versand wissen?',
      'Was sollte ich über Rückgabe wissen?',
      'Bitte: list orders (order id A-1).',
    ]);
    assert.deepEqual(asked('de-AT'), asked('de'));
    assert.deepEqual(asked('ja'), ['Versand?', 'Rückgabe?', 'list orders (order id A-1)?']);
    for (const language of ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl']) {
      assert.equal(new Set(asked(language)).size, 3, language);
      const general = smokeQuestions({ ...NOTHING, languages: [language] });
      assert.deepEqual([general.length, new Set(general.map(({ text }) => text)).size], [3, 3], language);
    }
  });

  test('SMOKE-7: what one kind lacks the others fill up', () => {
    assert.deepEqual(origins({ ...NOTHING, titles: ['A1', 'B1', 'C1', 'D1', 'E1'] }), Array(5).fill('knowledge'));
    assert.deepEqual(origins({ ...NOTHING, suggestions: ['a', 'b', 'c', 'd'] }), Array(4).fill('suggestion'));
    assert.deepEqual(origins({ ...NOTHING, suggestions: ['a'], titles: ['T'], actions: [action('x'), action('y')] }), [
      'suggestion',
      'knowledge',
      'action',
      'action',
    ]);
  });

  test('SMOKE-7: one source alone is asked about in three ways, with nothing at all general questions are asked', () => {
    const about = smokeQuestions({ ...NOTHING, titles: ['Shipping'] });
    assert.deepEqual([about.length, about.every(({ text, from }) => from === 'knowledge' && text.includes('Shipping'))], [3, true]);
    assert.deepEqual(origins(NOTHING), ['general', 'general', 'general']);
    assert.deepEqual(origins({ ...NOTHING, actions: [action('list_orders')] }), ['action', 'general', 'general']);
  });

  test('SMOKE-8: a title that is a question asks for itself, and two equal questions are one', () => {
    const title = 'How long does delivery take?';
    const asked = smokeQuestions({
      ...NOTHING,
      suggestions: ['how long does delivery take'],
      titles: [title, '¿Cuánto cuesta?', 'Returns'],
    });
    assert.deepEqual(
      asked.map(({ text }) => text),
      ['how long does delivery take', '¿Cuánto cuesta?', 'What should I know about Returns?'],
    );
    const alone = smokeQuestions({ ...NOTHING, titles: [title] });
    assert.deepEqual(
      alone.map(({ from }) => from),
      ['knowledge', 'general', 'general'],
    );
    assert.equal(alone[0]?.text, title);
  });

  test('SMOKE-9: an action that changes something is never asked for', () => {
    const actions = [action('cancel_order', {}, 'write'), action('delete_account', {}, 'destructive')];
    assert.deepEqual(origins({ ...NOTHING, actions }), ['general', 'general', 'general']);
  });

  test('SMOKE-9: the read action with the fewest made-up values is asked for, with its required values', () => {
    const invents = action('find_thing', { what: param() });
    const given = action('get_order', {
      order_id: param({ description: 'Number of the order, such as B-77.' }),
      carrier: param({ enum: ['dhl', 'ups'] }),
      note: param({ required: false }),
    });
    const [question] = smokeQuestions({ ...NOTHING, actions: [invents, given] });
    assert.equal(question?.text, 'Please get order for order id B-77 and carrier "dhl".');
  });

  test('SMOKE-1: any configuration gives three to five different questions', () => {
    const names = fc.array(fc.string({ maxLength: 12 }), { maxLength: 6 });
    const actions = fc.array(fc.constantFrom('list_orders', 'find_shop', 'get_cart', 'see_points'), { maxLength: 4 });
    fc.assert(
      fc.property(names, names, actions, (suggestions, titles, called) => {
        const questions = smokeQuestions({ suggestions, titles, actions: called.map((name) => action(name)) });
        assert.ok(questions.length >= 3 && questions.length <= 5);
        assert.equal(new Set(questions.map(({ text }) => text)).size, questions.length);
        assert.ok(questions.every(({ text }) => text.trim() !== ''));
      }),
    );
  });
});

describe('Example values', () => {
  const types = fc.constantFrom('string', 'number', 'boolean', 'array') as fc.Arbitrary<ActionParam['type']>;
  const items = fc.constantFrom('string', 'number', 'boolean') as fc.Arbitrary<NonNullable<ActionParam['items']>>;
  const described = fc.oneof(fc.constantFrom('such as 42', 'e.g. Berlin', 'for example A-1.', ''), fc.string());

  test('SMOKE-10: the action accepts every example value, whatever its parameter', () => {
    const names = fc.constantFrom('id', 'orderId', 'e_mail', 'city', 'from_date', 'anything', 'phone', 'link');
    fc.assert(
      fc.property(names, types, items, described, fc.boolean(), (name, type, itemType, description, hasEnum) => {
        const valueType = type === 'array' ? itemType : type;
        const allowed = { string: ['open', 'shut'], number: [7, 8], boolean: [false] }[valueType];
        const declared = param({
          type,
          description,
          ...(type === 'array' ? { items: itemType } : {}),
          ...(hasEnum ? { enum: allowed } : {}),
        });
        const checked = checkParams({ [name]: declared }, JSON.stringify({ [name]: exampleValue(name, declared) }));
        assert.deepEqual(checked.ok, true, JSON.stringify(checked));
      }),
    );
  });

  test('SMOKE-10: a declared example is taken as it is', () => {
    const city = { name: 'city', type: 'string', description: 'The city.', required: true, example: 'New York, NY (USA)' };
    const http = { name: 'find_shops', description: 'x', risk: 'read', params: [city], timeout_ms: 1_000 } as unknown as Parameters<
      typeof asAction
    >[0];
    assert.equal(exampleValue('city', asAction(http).params.city as ActionParam), 'New York, NY (USA)');
    const posted = { type: 'number', required: true, example: 12.5 } as const;
    const build = (given: object) =>
      completeManifest({ version: '1', actions: [{ name: 'weigh', description: 'x', params: { kilos: { ...posted, ...given } } }] })
        .actions[0]?.params.kilos;
    assert.equal(exampleValue('kilos', build({}) as ActionParam), 12.5);
    assert.equal(build({ example: 'much' })?.example, undefined, 'what does not fit is no example');
    assert.deepEqual(exampleValue('tags', param({ type: 'array', example: ['a b', 'c'] })), ['a b', 'c']);
    const [question] = smokeQuestions({ ...NOTHING, actions: [asAction(http)] });
    assert.equal(question?.text, 'Please find shops for city "New York, NY (USA)".');
  });

  test('SMOKE-10: an example in words is not cut at its first blank', () => {
    for (const [description, value] of [
      ['The city, such as New York.', 'New York'],
      ['e.g. "Rio de Janeiro" or Lima', 'Rio de Janeiro'],
      ['Title, for example The Old Man, as printed', 'The Old Man'],
      ['like Berlin or Paris', 'Berlin'],
    ] as const) {
      assert.equal(exampleValue('city', param({ description })), value, description);
    }
  });

  test('SMOKE-10: an example stands in the description, or follows from the name', () => {
    assert.equal(exampleValue('ref', param({ description: 'The booking, e.g. ZX-9, as printed' })), 'ZX-9');
    assert.equal(exampleValue('contactEmail', param()), 'ada@example.com');
    assert.equal(exampleValue('order_id', param()), 'A-1042');
    assert.equal(exampleValue('count', param({ type: 'number', description: 'how many, for example 3' })), 3);
    assert.equal(exampleValue('state', param({ enum: ['open'], description: 'such as shut' })), 'open');
  });
});
