import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { checkBody, checkContentType, parseJson } from '../../../gateway/http/body.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { JSON_KEYS_MAX, JSON_MEMBERS_MAX } from '../../../protocol/limits.ts';
import { shapeFault } from '../../../protocol/schema/json-shape.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function refusal(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error;
  }
  assert.fail('nothing was refused');
}

/** Depth as a parser sees it. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Keys of all objects, and members of all lists and objects with these themselves, as a parser sees them. */
function countsOf(value: unknown): { keys: number; members: number } {
  if (typeof value !== 'object' || value === null) return { keys: 0, members: 0 };
  const own = Object.values(value);
  const inner = own.map(countsOf);
  const sum = (key: 'keys' | 'members') => inner.reduce((total, counts) => total + counts[key], 0);
  // As commas and brackets: the first member of each comes without one.
  return { keys: sum('keys') + (Array.isArray(value) ? 0 : own.length), members: sum('members') + Math.max(1, own.length) };
}

const WIDE = { depth: 1_000, keys: 1_000_000, members: 1_000_000 };

test('HTTP-4: the scan of depth, keys and members agrees with the parser on every JSON document', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 9 }), (text, max) => {
      const value: unknown = JSON.parse(text);
      const { keys, members } = countsOf(value);
      assert.equal(shapeFault(bytes(text), { ...WIDE, depth: max }) === 'depth', depthOf(value) > max);
      assert.equal(shapeFault(bytes(text), { ...WIDE, keys: max }) === 'keys', keys > max);
      assert.equal(shapeFault(bytes(text), { ...WIDE, members: max }) === 'members', members > max);
    }),
  );
});

test('HTTP-4: brackets, commas and colons inside strings count for nothing', () => {
  const text = `["${'[,:'.repeat(200)}", "\\"[[[[[[", "\\\\", {}]`;
  assert.equal(shapeFault(bytes(text), { depth: 2, keys: 0, members: 5 }), null);
  assert.deepEqual(parseJson(bytes(`["${'{['.repeat(200)}"]`), 'runtime'), ['{['.repeat(200)]);
});

const filled = (item: (at: number) => string) => {
  const items: string[] = [];
  for (let size = 0; size < 2 * 1024 * 1024 - 100; size += (items.at(-1) as string).length + 1) items.push(item(items.length));
  return items.join(',');
};

for (const [shape, text, said] of [
  ['130,000 unknown keys', () => `{${filled((at) => `"unknown${at}":1`)}}`, `${JSON_KEYS_MAX} keys`],
  ['130,000 unknown keys in objects of their own', () => `[${filled((at) => `{"u${at}":1}`)}]`, `${JSON_KEYS_MAX} keys`],
  ['700,000 empty objects', () => `{"items":[${filled(() => '{}')}]}`, `${JSON_MEMBERS_MAX} members`],
  ['a million numbers', () => `{"items":[${filled(() => '1')}]}`, `${JSON_MEMBERS_MAX} members`],
  ['17,000 towers of 60 levels', () => `[${filled(() => '['.repeat(60) + ']'.repeat(60))}]`, `${JSON_MEMBERS_MAX} members`],
] as const) {
  test(`HTTP-4: two megabytes of ${shape} are refused before they are parsed`, (t) => {
    const body = bytes(text());
    const { mock } = t.mock.method(JSON, 'parse');
    const refused = refusal(() => parseJson(body, 'setup'));
    assert.equal(refused.code, 'too_large');
    assert.ok(refused.message.includes(said), refused.message);
    assert.equal(mock.callCount(), 0);
  });
}

test('HTTP-4: 100,000 levels are refused before they are parsed', () => {
  const refused = refusal(() => parseJson(bytes('['.repeat(100_000) + ']'.repeat(100_000)), 'runtime'));
  assert.equal(refused.code, 'invalid_request');
  assert.match(refused.message, /64 levels/);
});

for (const [name, text] of [
  ['__proto__', '{"a":{"__proto__":{"admin":true}}}'],
  ['__proto__', '{"\\u005f_proto__":1}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"x":1}}}'],
] as const) {
  test(`HTTP-6: a key that reaches for a prototype is refused by name: ${text}`, () => {
    const refused = refusal(() => parseJson(bytes(text), 'console'));
    assert.equal(refused.code, 'invalid_json');
    assert.ok(refused.message.includes(name));
  });
}

test('HTTP-1: empty, not UTF-8, not JSON and half a surrogate pair are told apart', () => {
  assert.match(refusal(() => parseJson(bytes(''), 'runtime')).message, /JSON body is required/);
  assert.match(refusal(() => parseJson(new Uint8Array([0x22, 0xc3, 0x28, 0x22]), 'runtime')).message, /UTF-8/);
  assert.match(refusal(() => parseJson(bytes('{"longer key":1,b}'), 'runtime')).message, /not valid JSON at position 16\.$/);
  assert.match(refusal(() => parseJson(bytes('{"a":'), 'runtime')).message, /not valid JSON\.$/);
  assert.match(refusal(() => parseJson(bytes('{"a":["\\uD800x"]}'), 'runtime')).message, /surrogate/);
  assert.match(refusal(() => parseJson(bytes('{"\\udc00":1}'), 'runtime')).message, /surrogate/);
  const among = '{"n":null,"a":["fine",{"c":1,"b":"\\udbffx"}],"z":"fine"}';
  assert.match(refusal(() => parseJson(bytes(among), 'runtime')).message, /surrogate/);
  assert.deepEqual(parseJson(bytes('{"a":["\\uD83D\\uDE00",1,null]}'), 'runtime'), { a: ['😀', 1, null] });
  assert.equal(parseJson(bytes('"\\uD83D\\uDE00"'), 'runtime'), '😀');
  assert.equal(parseJson(bytes('"\\\\ud800"'), 'runtime'), '\\ud800');
});

test('HTTP-12: an error never quotes the body', () => {
  const refused = refusal(() => parseJson(bytes('{"password": hunter2}'), 'runtime'));
  assert.ok(!refused.message.includes('hunter2'));
});

test('HTTP-1: Content-Type must be application/json in UTF-8, each interface in its own words', () => {
  for (const fine of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;charset=utf8;v=1',
    'application/json;v=1',
  ]) {
    assert.doesNotThrow(() => checkContentType(fine, 'runtime'));
  }
  for (const wrong of [
    '',
    'text/plain',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
    ';;;',
    'application/jsonx',
  ]) {
    assert.equal(refusal(() => checkContentType(wrong, 'runtime')).code, 'invalid_request');
    assert.match(refusal(() => checkContentType(wrong, 'runtime')).message, /Content-Type/);
    assert.equal(refusal(() => checkContentType(wrong, 'console')).code, 'invalid_json');
  }
  const said = (type: string) => refusal(() => checkContentType(type, 'runtime')).message;
  assert.match(said(''), /it is missing/);
  assert.match(said(`x/${'y'.repeat(5_000)}`), /not x\/y{58}\.$/);
});

test('HTTP-2, HTTP-3: a mismatch is 400 invalid_request with the paths of at most twelve faults; unknown fields are ignored', () => {
  const schema = v.object({ items: v.array(v.object({ n: v.number('must be a number') })) });
  const refused = refusal(() => checkBody(schema, { items: Array.from({ length: 40 }, () => ({ n: 'x' })) }, 'runtime'));
  assert.equal(refused.code, 'invalid_request');
  assert.equal(refused.details?.length, 12);
  assert.deepEqual(refused.details?.[1], { path: 'items[1].n', message: 'must be a number' });
  assert.match(refused.message, /^items\[0\]\.n must be a number/);
  assert.deepEqual(checkBody(schema, { items: [], newer: 1 }, 'runtime'), { items: [] });
  assert.equal(refusal(() => checkBody(schema, null, 'console')).code, 'invalid_body');
});
