import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { completeManifest, manifestRequest } from '../../../protocol/runtime/manifest.ts';
import { explain } from '../../../protocol/schema/issues.ts';
import { hashManifest } from '../../../storage/apps/manifests.ts';

const read = { name: 'find_order', description: 'Finds an order.' };
const write = { name: 'cancel_order', description: 'Cancels an order.', risk: 'write', confirm_template: 'Cancel the order?' };

function posted(manifest: object): unknown {
  return { manifest: { version: '1', actions: [], ...manifest }, sdk: 'web/0.27.0' };
}

function faults(manifest: object): string[] {
  const result = v.safeParse(manifestRequest, posted(manifest));
  return result.success ? [] : explain(result.issues).map(({ path, message }) => `${path} ${message}`);
}

function parsed(manifest: object) {
  return v.parse(manifestRequest, posted(manifest)).manifest;
}

test('MANIFEST-3: an action gets its defaults: risk read, no parameters, 30 s', () => {
  const manifest = completeManifest(parsed({ actions: [read], routes: [{ name: 'home', title: 'Home' }] }));
  assert.deepEqual(manifest, {
    version: '1',
    actions: [{ ...read, risk: 'read', params: {}, timeoutMs: 30_000 }],
    routes: [{ name: 'home', title: 'Home', description: '', params: {} }],
  });
});

test('MANIFEST-3: parameters keep their names; a list holds strings unless it says otherwise', () => {
  const params = {
    orderId: { type: 'string', required: true, enum: ['a'] },
    tags: { type: 'array' },
    n: { type: 'number', editable: true },
  };
  assert.deepEqual(completeManifest(parsed({ actions: [{ ...read, params }] })).actions[0]?.params, {
    orderId: { type: 'string', required: true, editable: false, enum: ['a'] },
    tags: { type: 'array', required: false, editable: false, items: 'string' },
    n: { type: 'number', required: false, editable: true },
  });
});

const cases: readonly [string, object, RegExp][] = [
  ['a name that is no snake_case', { actions: [{ ...read, name: 'FindOrder' }] }, /^manifest\.actions\[0\]\.name must be snake_case/],
  ['a missing description', { actions: [{ name: 'x' }] }, /^manifest\.actions\[0\]\.description is required$/],
  [
    '101 actions',
    { actions: Array.from({ length: 101 }, (_, i) => ({ ...read, name: `a${i}` })) },
    /^manifest\.actions must list at most 100/,
  ],
  [
    '51 routes',
    { routes: Array.from({ length: 51 }, (_, i) => ({ name: `r${i}`, title: 'R' })) },
    /^manifest\.routes must list at most 50/,
  ],
  ['a name used twice', { actions: [read, write, read] }, /^manifest\.actions\[2\]\.name must be unique: actions\[0\]/],
  [
    'a route named twice',
    {
      routes: [
        { name: 'a', title: 'A' },
        { name: 'a', title: 'B' },
      ],
    },
    /^manifest\.routes\[1\]\.name must be unique: routes\[0\]/,
  ],
  [
    'a write without a template',
    { actions: [{ ...write, confirm_template: undefined }] },
    /^manifest\.actions\[0\]\.confirm_template is required for a write/,
  ],
  [
    'an empty map of templates',
    { actions: [{ ...write, confirm_template: {} }] },
    /^manifest\.actions\[0\]\.confirm_template is required for a write/,
  ],
  [
    '17 locales',
    { actions: [{ ...write, confirm_template: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`l${i}`, 'x'])) }] },
    /^manifest\.actions\[0\]\.confirm_template must be [^;]* at most 16 locales/,
  ],
  [
    'a marker that is no parameter',
    { actions: [{ ...write, confirm_template: 'Cancel {orderId}?' }] },
    /^manifest\.actions\[0\]\.confirm_template must mark/,
  ],
  [
    'a type nobody knows',
    { actions: [{ ...read, params: { x: { type: 'date' } } }] },
    /^manifest\.actions\[0\]\.params\.x\.type must be one of/,
  ],
  [
    'an enum of another type',
    { actions: [{ ...read, params: { x: { type: 'number', enum: ['1'] } } }] },
    /^manifest\.actions\[0\]\.params\.x\.enum must hold values/,
  ],
  [
    'items without array',
    { actions: [{ ...read, params: { x: { type: 'string', items: 'string' } } }] },
    /^manifest\.actions\[0\]\.params\.x\.items goes with/,
  ],
  [
    '21 parameters',
    { actions: [{ ...read, params: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`p${i}`, { type: 'string' }])) }] },
    /^manifest\.actions\[0\]\.params must have at most 20/,
  ],
  ['a timeout over 120 s', { actions: [{ ...read, timeoutMs: 120_001 }] }, /^manifest\.actions\[0\]\.timeoutMs must be at most 120000/],
  ['a timeout under 1 s', { actions: [{ ...read, timeoutMs: 999 }] }, /^manifest\.actions\[0\]\.timeoutMs must be at least 1000/],
  [
    'nine route parameters',
    { routes: [{ name: 'r', title: 'R', params: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, { type: 'string' }])) }] },
    /^manifest\.routes\[0\]\.params must have at most 8/,
  ],
];
for (const [what, manifest, expected] of cases) {
  test(`MANIFEST-1, MANIFEST-2: ${what} is refused at its place in the posted document`, () => {
    const found = faults(manifest);
    assert.equal(found.length, 1, found.join('; '));
    assert.match(found[0] ?? '', expected);
  });
}

test('MANIFEST-4: what a newer SDK adds is kept and counts in the hash', () => {
  const plain = hashManifest(parsed({ actions: [read] }));
  const newer = hashManifest(parsed({ actions: [{ ...read, icon: 'box' }] }));
  assert.notEqual(plain.hash, newer.hash);
  assert.deepEqual(JSON.parse(newer.document).actions[0].icon, 'box');
});

test('MANIFEST-4: the hash is the SHA-256 of the canonical JSON, whatever the order of keys and the spelling of numbers', () => {
  const { hash } = hashManifest(
    v.parse(manifestRequest, JSON.parse('{"sdk":"web/1.0.0","manifest":{"version":"1","actions":[],"z":1.0,"é":"\\u0041"}}')).manifest,
  );
  assert.equal(hash, createHash('sha256').update('{"actions":[],"version":"1","z":1,"é":"A"}').digest('hex'));
});

const jsonKey = fc
  .string({ unit: 'grapheme-ascii', maxLength: 6 })
  .filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key));

test('MANIFEST-4: shuffling the keys of a document never changes its hash', () => {
  fc.assert(
    fc.property(fc.dictionary(jsonKey, fc.jsonValue({ maxDepth: 2, noUnicodeString: true })), (extra) => {
      const manifest = { ...extra, version: '1', actions: [{ ...extra, ...read, params: {} }], routes: [] };
      for (const name of ['risk', 'confirm_template', 'confirm_labels', 'type_to_confirm', 'timeoutMs']) {
        delete (manifest.actions[0] as Record<string, unknown>)[name];
      }
      const shuffled = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(manifest).reverse())));
      assert.equal(hashManifest(parsed(manifest)).hash, hashManifest(parsed(shuffled)).hash);
    }),
  );
});
