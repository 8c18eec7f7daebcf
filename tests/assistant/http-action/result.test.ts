import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hiderOf, type Shown, shownError, shownResult } from '../../../assistant/http-action/result.ts';
import { ACTION_RESULT_MAX_BYTES, TOOL_ERROR_MAX_CHARS } from '../../../protocol/limits.ts';
import { codePoints } from '../../../protocol/schema/text.ts';

const bare = hiderOf([]);
const SHOWN: Shown = { result_path: undefined, result_fields: [], result_limit: 5 };

function shown(value: unknown, definition: Partial<Shown> = {}): unknown {
  return JSON.parse(shownResult({ ...SHOWN, ...definition }, { status: 200, body: JSON.stringify(value) }, bare));
}

const orders = Array.from({ length: 7 }, (_, at) => ({
  id: at,
  total: { amount: `${at}.00`, currency: 'EUR' },
  tags: ['a', 'b'],
  note: null,
}));

test('CALL-8: result_path leads into objects and lists, and says so when there is nothing', () => {
  const answer = { data: { pages: [{ items: [1, 2] }], empty: [], none: null, count: 0 }, 'x-y': 'z' };
  const table: [string, unknown][] = [
    ['data.pages.0.items', [1, 2]],
    ['data.pages.0.items.1', 2],
    ['data.empty', []],
    ['data.none', null],
    ['data.count', 0],
    ['x-y', 'z'],
    ...[
      'data.pages.1',
      'data.pages.-1',
      'data.pages.length',
      'data.count.toString',
      'constructor',
      '__proto__',
      'data.none.a',
      'x-y.0',
    ].map((path): [string, unknown] => [path, { note: `The answer holds nothing at ${path}.` }]),
  ];
  for (const [path, expected] of table) assert.deepEqual(shown(answer, { result_path: path }), expected, path);
});

test('CALL-8: result_fields picks of an object, or of each object of a list, dotted names included', () => {
  const fields = ['id', 'total.amount', 'tags.1', 'missing', 'note'];
  assert.deepEqual(shown(orders[3], { result_fields: fields }), { id: 3, 'total.amount': '3.00', 'tags.1': 'b', note: null });
  assert.deepEqual(shown([orders[0], 'text', 5, null, [1]], { result_fields: ['id'] }), [{ id: 0 }, 'text', 5, null, [1]]);
  assert.deepEqual(shown({ orders: [orders[1]] }, { result_path: 'orders', result_fields: ['id'] }), [{ id: 1 }]);
  assert.deepEqual(shown('text', { result_fields: ['length'] }), 'text');
});

test('CALL-8: result_limit cuts a list and says how many there were', () => {
  assert.deepEqual(shown(orders, { result_fields: ['id'], result_limit: 2 }), { total: 7, shown: 2, items: [{ id: 0 }, { id: 1 }] });
  assert.deepEqual(
    shown(orders, { result_fields: ['id'], result_limit: 7 }),
    orders.map(({ id }) => ({ id })),
  );
  assert.deepEqual(shown({ orders }, { result_limit: 1 }), { orders }, 'a list inside of what is shown is not cut');
});

test('CALL-8: text that is no JSON is a string, nothing is its status, and bytes are no text', () => {
  const body = (text: string, status = 200) => JSON.parse(shownResult(SHOWN, { status, body: text }, bare));
  assert.equal(body('<p>Sign in</p>'), '<p>Sign in</p>');
  assert.equal(body('{"a":'), '{"a":');
  assert.deepEqual(body('', 204), { status: 204 });
  assert.deepEqual(body(' \n', 201), { status: 201 });
  assert.equal(body('\x89PNG\r\n\0\0'), '[an answer that is not text]');
  assert.equal(body(Buffer.from([0xff, 0xd8, 0xff]).toString('utf8')), '[an answer that is not text]');
  assert.deepEqual(body('{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}'), { a: 1 });
  assert.equal(body('null'), null);
});

test('CALL-8: whatever an endpoint answers, the model sees JSON of at most 16 KB', () => {
  const size = (value: unknown) => Buffer.byteLength(shownResult(SHOWN, { status: 200, body: JSON.stringify(value) }, bare));
  const cruel: unknown[] = [
    'x'.repeat(900_000),
    '\u0001'.repeat(150_000),
    '😀'.repeat(200_000),
    Array.from({ length: 5 }, () => 'é'.repeat(100_000)),
    { list: Array.from({ length: 50_000 }, (_, at) => ({ at, words: 'some words' })) },
    Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`key ${at} ${'\u0001'.repeat(3)}`, at])),
    { ['k'.repeat(500_000)]: 1 },
    Array.from({ length: 5 }, () => Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => '\u0001'.repeat(10)))),
  ];
  for (const value of cruel) assert.ok(size(value) <= ACTION_RESULT_MAX_BYTES, JSON.stringify(value).slice(0, 40));
  for (const deep of ['['.repeat(300_000) + ']'.repeat(300_000), `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`]) {
    const json = shownResult(SHOWN, { status: 200, body: deep }, bare);
    assert.doesNotThrow(() => JSON.parse(json));
    assert.ok(Buffer.byteLength(json) <= ACTION_RESULT_MAX_BYTES);
  }
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 400 }), (json, copies) => {
      const value = Array.from({ length: copies }, () => JSON.parse(json));
      const text = shownResult({ ...SHOWN, result_limit: 50 }, { status: 200, body: JSON.stringify(value) }, bare);
      JSON.parse(text);
      assert.ok(Buffer.byteLength(text) <= ACTION_RESULT_MAX_BYTES);
    }),
    { numRuns: 100 },
  );
});

test('CALL-8: what was cut ends in an ellipsis and says how much is left out', () => {
  const cut = shown({ text: 'x'.repeat(20_000), list: Array.from({ length: 80 }, () => 'y'.repeat(400)) }) as {
    text: string;
    list: string[];
  };
  assert.match(cut.text, /^x+…$/);
  assert.match(cut.list.at(-1) ?? '', /^… \d+ more$/);
  const small = { text: 'x'.repeat(5_000), list: Array.from({ length: 80 }, (_, at) => at) };
  assert.deepEqual(shown(small), small, 'what fits is whole');
});

test('CALL-9: a credential that the endpoint sends back is hidden in values, keys, numbers, text and errors', () => {
  const token = 'tok/en+"1234';
  const hide = hiderOf([token, '987654', undefined, 'abc']);
  const body = JSON.stringify({
    headers: { Authorization: `Bearer ${token}`, [token]: 1 },
    url: `https://api.shop.example/?t=${encodeURIComponent(token)}`,
    nested: JSON.stringify({ token }),
    number: 987654,
    list: [[token]],
    short: 'abc',
  });
  const result = shownResult(SHOWN, { status: 200, body }, hide);
  assert.deepEqual(JSON.parse(result), {
    headers: { Authorization: 'Bearer [hidden]', '[hidden]': 1 },
    url: 'https://api.shop.example/?t=[hidden]',
    nested: '{"token":"[hidden]"}',
    number: '[hidden]',
    list: [['[hidden]']],
    short: 'abc',
  });
  assert.equal(shownResult(SHOWN, { status: 200, body: `hello ${token}` }, hide), '"hello [hidden]"');
  assert.equal(shownError('It failed.', { status: 401, body: `bad token ${token}` }, hide), 'It failed. It said: bad token [hidden]');
  // Hidden before it is cut, so that no part of it is left at the end.
  const long = `${'x'.repeat(TOOL_ERROR_MAX_CHARS - 30)}${token}${token}`;
  assert.doesNotMatch(shownError('It failed.', { status: 401, body: long }, hide), /tok/);
});

test('CALL-8: an error has at most 500 characters', () => {
  assert.equal(shownError('It failed.', undefined, bare), 'It failed.');
  assert.equal(shownError('It failed.', { status: 500, body: ' \n ' }, bare), 'It failed.');
  assert.equal(shownError('It failed.', { status: 500, body: 'a\n\n b' }, bare), 'It failed. It said: a b');
  for (const body of ['x'.repeat(900_000), '😀'.repeat(10_000)]) {
    assert.equal(codePoints(shownError('It failed.', { status: 500, body }, bare)), TOOL_ERROR_MAX_CHARS);
  }
});
