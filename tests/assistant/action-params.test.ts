import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkParams, checkValues, paramsSchema } from '../../assistant/action-params.ts';
import type { ActionParam } from '../../protocol/runtime/manifest.ts';

function param(fields: Partial<ActionParam>): ActionParam {
  return { type: 'string', required: false, editable: false, ...fields };
}

const DECLARED = {
  order_id: param({ required: true, description: 'Number of the order' }),
  size: param({ enum: ['s', 'm'] }),
  count: param({ type: 'number' }),
  gift: param({ type: 'boolean' }),
  tags: param({ type: 'array', items: 'string', enum: ['new', 'old'] }),
  weights: param({ type: 'array', items: 'number' }),
};

function problems(args: unknown): string[] {
  const checked = checkParams(DECLARED, typeof args === 'string' ? args : JSON.stringify(args));
  assert.ok(!checked.ok, 'was accepted');
  return checked.details.map(({ path, message }) => `${path} ${message}`);
}

describe('MODEL-4: parameters of an action call are checked against what the action declared', () => {
  test('what fits is taken as it was written', () => {
    const given = { order_id: 'A-1', size: 'm', count: 2.5, gift: false, tags: ['new'], weights: [1, 2] };
    assert.deepEqual(checkParams(DECLARED, JSON.stringify(given)), { ok: true, params: given });
    assert.deepEqual(checkParams({}, ''), { ok: true, params: {} });
  });

  test('every wrong parameter is named, with what it must be', () => {
    assert.deepEqual(problems({ order_id: 7, size: 'xl', count: '2', gift: 'no', tags: 'new', weights: ['a'] }), [
      'order_id must be a string',
      'size must be one of s, m',
      'count must be a number',
      'gift must be true or false',
      'tags must be a list',
      'weights must be a list of number values',
    ]);
    assert.deepEqual(problems({ order_id: 'A-1', tags: ['new', 'other'] }), ['tags must be one of new, old']);
  });

  test('a missing required parameter and an unknown one are named', () => {
    assert.deepEqual(problems({ colour: 'red' }), ['colour is not a parameter of this action', 'order_id is required']);
  });

  test('null stands for "left out", except for what is required', () => {
    assert.deepEqual(checkParams(DECLARED, '{"order_id":"A-1","size":null}'), { ok: true, params: { order_id: 'A-1' } });
    assert.deepEqual(problems({ order_id: null }), ['order_id must be a string']);
  });

  test('values at hand are held to the same rules as the JSON text of a call', () => {
    for (const given of [
      { order_id: 'A-1', size: null, tags: ['new'] },
      { order_id: 7, colour: 'red' },
      {},
      { order_id: 'x'.repeat(17_000) },
    ]) {
      assert.deepEqual(checkValues(DECLARED, given), checkParams(DECLARED, JSON.stringify(given)));
    }
  });

  test('names that every object has are no parameters', () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      assert.deepEqual(problems(`{"order_id":"A-1","${name}":1}`), [`${name} is not a parameter of this action`]);
    }
    assert.deepEqual(Object.getPrototypeOf({}), Object.prototype);
  });

  test('text that is no JSON object, or a very large one, is refused', () => {
    assert.deepEqual(problems('{"order_id":'), [' is not valid JSON']);
    for (const text of ['[]', 'null', '"A-1"', '7']) assert.deepEqual(problems(text), [' must be an object']);
    assert.match(problems({ order_id: 'x'.repeat(20_000) })[0] ?? '', /must be at most \d+ bytes/);
  });

  test('at most twelve problems are told', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, 1]));
    assert.equal(problems(many).length, 12);
  });

  test('never throws, and answers only declared parameters', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.dictionary(fc.constantFrom(...Object.keys(DECLARED), 'x'), fc.jsonValue()).map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const checked = checkParams(DECLARED, text);
          if (checked.ok) for (const name of Object.keys(checked.params)) assert.ok(Object.hasOwn(DECLARED, name));
          else assert.ok(checked.details.length > 0);
        },
      ),
    );
  });
});

describe('MODEL-4: the model is told the parameters as JSON Schema', () => {
  test('types, values to choose from, descriptions and what is required', () => {
    assert.deepEqual(paramsSchema(DECLARED), {
      type: 'object',
      properties: {
        order_id: { type: 'string', description: 'Number of the order' },
        size: { type: 'string', enum: ['s', 'm'] },
        count: { type: 'number' },
        gift: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string', enum: ['new', 'old'] } },
        weights: { type: 'array', items: { type: 'number' } },
      },
      required: ['order_id'],
      additionalProperties: false,
    });
  });
});
