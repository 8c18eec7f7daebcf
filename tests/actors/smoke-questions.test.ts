/** service.md "POST /smoke rules", decisions §3 "Smoke": what a run asks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { exampleValue, smokeQuestions } from '../../src/actors/smoke-questions.ts';
import { checkParams } from '../../src/assistant/action-params.ts';
import type { ActionParam, ManifestAction } from '../../src/protocol/runtime/manifest.ts';

function param(more: Partial<ActionParam> = {}): ActionParam {
  return { type: 'string', required: true, editable: false, ...more };
}

function action(name: string, params: Readonly<Record<string, ActionParam>> = {}, risk: ManifestAction['risk'] = 'read'): ManifestAction {
  return { name, description: 'Looks something up.', risk, params, timeoutMs: 1_000 };
}

const NOTHING = { suggestions: [], titles: [], actions: [] };
const origins = (configuration: Parameters<typeof smokeQuestions>[0]) => smokeQuestions(configuration).map(({ from }) => from);

describe('POST /smoke: the questions', () => {
  test('POST /smoke: suggestions, knowledge and one read action make five questions, in this order', () => {
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

  test('POST /smoke: what one kind lacks the others fill up', () => {
    assert.deepEqual(origins({ ...NOTHING, titles: ['A1', 'B1', 'C1', 'D1', 'E1'] }), Array(5).fill('knowledge'));
    assert.deepEqual(origins({ ...NOTHING, suggestions: ['a', 'b', 'c', 'd'] }), Array(4).fill('suggestion'));
    assert.deepEqual(origins({ ...NOTHING, suggestions: ['a'], titles: ['T'], actions: [action('x'), action('y')] }), [
      'suggestion',
      'knowledge',
      'action',
      'action',
    ]);
  });

  test('POST /smoke: one source alone is asked about in three ways, with nothing at all general questions are asked', () => {
    const about = smokeQuestions({ ...NOTHING, titles: ['Shipping'] });
    assert.deepEqual([about.length, about.every(({ text, from }) => from === 'knowledge' && text.includes('Shipping'))], [3, true]);
    assert.deepEqual(origins(NOTHING), ['general', 'general', 'general']);
    assert.deepEqual(origins({ ...NOTHING, actions: [action('list_orders')] }), ['action', 'general', 'general']);
  });

  test('POST /smoke: an action that changes something is never asked for', () => {
    const actions = [action('cancel_order', {}, 'write'), action('delete_account', {}, 'destructive')];
    assert.deepEqual(origins({ ...NOTHING, actions }), ['general', 'general', 'general']);
  });

  test('POST /smoke: the read action with the fewest made-up values is asked for, with its required values', () => {
    const invents = action('find_thing', { what: param() });
    const given = action('get_order', {
      order_id: param({ description: 'Number of the order, such as B-77.' }),
      carrier: param({ enum: ['dhl', 'ups'] }),
      note: param({ required: false }),
    });
    const [question] = smokeQuestions({ ...NOTHING, actions: [invents, given] });
    assert.equal(question?.text, 'Please get order for order id B-77 and carrier "dhl".');
  });

  test('POST /smoke: any configuration gives three to five different questions', () => {
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

describe('POST /smoke: example values', () => {
  const types = fc.constantFrom('string', 'number', 'boolean', 'array') as fc.Arbitrary<ActionParam['type']>;
  const items = fc.constantFrom('string', 'number', 'boolean') as fc.Arbitrary<NonNullable<ActionParam['items']>>;
  const described = fc.oneof(fc.constantFrom('such as 42', 'e.g. Berlin', 'for example A-1.', ''), fc.string());

  test('POST /smoke: the action accepts every example value, whatever its parameter', () => {
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

  test('POST /smoke: an example stands in the description, or follows from the name', () => {
    assert.equal(exampleValue('ref', param({ description: 'The booking, e.g. ZX-9, as printed' })), 'ZX-9');
    assert.equal(exampleValue('contactEmail', param()), 'ada@example.com');
    assert.equal(exampleValue('order_id', param()), 'A-1042');
    assert.equal(exampleValue('count', param({ type: 'number', description: 'how many, for example 3' })), 3);
    assert.equal(exampleValue('state', param({ enum: ['open'], description: 'such as shut' })), 'open');
  });
});
