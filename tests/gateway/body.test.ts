import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { checkBody, checkContentType, nestsDeeper, parseJson } from '../../src/gateway/body.ts';
import { Refusal } from '../../src/protocol/errors.ts';

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

test('Bodies: the depth scan agrees with the parser on every JSON document', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 9 }), (text, max) => {
      assert.equal(nestsDeeper(bytes(text), max), text.length > max && depthOf(JSON.parse(text)) > max);
    }),
  );
});

test('Bodies: brackets inside strings do not nest', () => {
  assert.equal(nestsDeeper(bytes(`["${'['.repeat(200)}", "\\"[[[[[[", "\\\\", {}]`), 2), false);
  assert.deepEqual(parseJson(bytes(`["${'{['.repeat(200)}"]`), 'runtime'), ['{['.repeat(200)]);
});

test('Bodies: 100,000 levels are refused before they are parsed', () => {
  const refused = refusal(() => parseJson(bytes('['.repeat(100_000) + ']'.repeat(100_000)), 'runtime'));
  assert.equal(refused.code, 'invalid_request');
  assert.match(refused.message, /64 levels/);
});

for (const [name, text] of [
  ['__proto__', '{"a":{"__proto__":{"admin":true}}}'],
  ['__proto__', '{"\\u005f_proto__":1}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"x":1}}}'],
] as const) {
  test(`Bodies: a key that reaches for a prototype is refused by name: ${text}`, () => {
    const refused = refusal(() => parseJson(bytes(text), 'console'));
    assert.equal(refused.code, 'invalid_json');
    assert.ok(refused.message.includes(name));
  });
}

test('Bodies: empty, not UTF-8, not JSON and half a surrogate pair are told apart', () => {
  assert.match(refusal(() => parseJson(bytes(''), 'runtime')).message, /JSON body is required/);
  assert.match(refusal(() => parseJson(new Uint8Array([0x22, 0xc3, 0x28, 0x22]), 'runtime')).message, /UTF-8/);
  assert.match(refusal(() => parseJson(bytes('{"a":}'), 'runtime')).message, /not valid JSON/);
  assert.match(refusal(() => parseJson(bytes('{"a":["\\uD800x"]}'), 'runtime')).message, /surrogate/);
  assert.match(refusal(() => parseJson(bytes('{"\\udc00":1}'), 'runtime')).message, /surrogate/);
  assert.equal(parseJson(bytes('"\\uD83D\\uDE00"'), 'runtime'), '😀');
  assert.equal(parseJson(bytes('"\\\\ud800"'), 'runtime'), '\\ud800');
});

test('Bodies: an error never quotes the body', () => {
  const refused = refusal(() => parseJson(bytes('{"password": hunter2}'), 'runtime'));
  assert.ok(!refused.message.includes('hunter2'));
});

test('Headers: Content-Type must be application/json in UTF-8, each interface in its own words', () => {
  for (const fine of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
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
});

test('Runtime bodies: a mismatch is 400 invalid_request with the paths of at most twelve faults; unknown fields are ignored', () => {
  const schema = v.object({ items: v.array(v.object({ n: v.number('must be a number') })) });
  const refused = refusal(() => checkBody(schema, { items: Array.from({ length: 40 }, () => ({ n: 'x' })) }, 'runtime'));
  assert.equal(refused.code, 'invalid_request');
  assert.equal(refused.details?.length, 12);
  assert.deepEqual(refused.details?.[1], { path: 'items[1].n', message: 'must be a number' });
  assert.match(refused.message, /^items\[0\]\.n must be a number/);
  assert.deepEqual(checkBody(schema, { items: [], newer: 1 }, 'runtime'), { items: [] });
  assert.equal(refusal(() => checkBody(schema, null, 'console')).code, 'invalid_body');
});
