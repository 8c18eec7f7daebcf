import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { RUNTIME_BODIES, type RuntimeBody, runtimeSchemas } from '../../../protocol/runtime/schemas.ts';
import { fullExample } from '../catalog/examples.ts';
import { type Agreement, ajv, assertAccepted, assertAgreement, bySchema } from '../schema-agreement.ts';
import { mutated } from '../setup/mutations.ts';
import { VALID_BODIES } from './instances.ts';

const SCHEMAS = runtimeSchemas();
const NAMES = Object.keys(RUNTIME_BODIES) as RuntimeBody[];

/** What JSON Schema has no words for; the schema's descriptions tell it, or docs/runtime.md. */
const UNSAYABLE = [/^must serialize to at most /, /^must mark with \{name\} /, /^must be unique: /];

/** Names that an object's prototype has: the server leaves them out of a map instead of refusing them. */
const INHERITED = new Set(['__proto__', 'prototype', 'constructor']);

function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (INHERITED.has(key) ? [] : [[key, named(inner)]])));
}

const agreementOf = (name: RuntimeBody): Agreement => ({
  published: SCHEMAS.requests[name],
  server: (body) => bySchema(RUNTIME_BODIES[name].schema, body),
  unsayable: UNSAYABLE,
});

test('VERSION-5: every schema is of draft 2020-12, valid against its meta-schema, titled and plain JSON', () => {
  for (const group of [SCHEMAS.requests, SCHEMAS.events, SCHEMAS.replies]) {
    for (const [name, schema] of Object.entries(group)) {
      assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema', name);
      assert.ok(typeof schema.title === 'string' && schema.title !== '', name);
      assert.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`);
      assert.doesNotThrow(() => ajv.compile(schema), name);
      assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema, name);
    }
  }
});

for (const name of NAMES) {
  test(`VERSION-6: ${name}: valid bodies pass the schema and the server`, () => {
    assertAccepted(agreementOf(name), VALID_BODIES[name], 300);
  });

  test(`VERSION-6: ${name}: damaged bodies pass or fail with both, and the field the server names is named`, () => {
    assertAgreement(agreementOf(name), mutated(VALID_BODIES[name]).map(named), 800);
  });
}

test('VERSION-6: fields that a newer SDK adds are passed over', () => {
  for (const name of NAMES) {
    const { published, server } = agreementOf(name);
    const [body] = fc.sample(VALID_BODIES[name], { numRuns: 1, seed: 1 });
    const newer = { ...(body as object), later: [1] };
    assert.deepEqual([server(newer), ajv.validate(published, newer)], [[], true], name);
  }
});

/** A stream event of each type with the fields it must have. */
const EVENTS: Readonly<Record<keyof typeof SCHEMAS.events, Readonly<Record<string, unknown>>>> = {
  'turn.start': { conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' },
  'block.start': { index: 0, id: 'b', block_type: 'text' },
  'block.delta': { index: 0, text_delta: 'Hi' },
  'block.ready': { index: 0, block: { index: 0, id: 'b', block_type: 'text', revision: 1, body: { md: 'Hi' } } },
  'action.execute': { invocation_id: 'inv_1', name: 'find_order', params: {}, timeout_ms: 1 },
  notice: { reason: 'user_limit', message: 'Later.' },
  'turn.end': { status: 'completed' },
  error: { code: 'internal', message: 'Sorry.', retryable: true },
  ping: {},
};

for (const [type, fields] of Object.entries(EVENTS)) {
  test(`STREAM-1, STREAM-6: ${type}: each field of the table is required, more fields are passed over`, () => {
    const validate = ajv.compile(SCHEMAS.events[type as keyof typeof EVENTS]);
    const event: Record<string, unknown> = { type, v: 1, seq: 0, ...fields };
    assert.ok(validate(event), ajv.errorsText(validate.errors));
    assert.ok(validate({ ...event, later: { a: 1 } }), 'Versioning 1: fields may be added');
    for (const name of Object.keys(event)) {
      const { [name]: _left, ...rest } = event;
      assert.ok(!validate(rest), `${name} may be left out`);
    }
  });
}

test('VERSION-7: a block of every component of the catalog, and no other', () => {
  const validate = ajv.compile(SCHEMAS.events['block.ready']);
  const ready = (block_type: string, body: unknown) => ({
    ...{ type: 'block.ready', v: 1, seq: 3, index: 0 },
    block: { index: 0, id: 'b', block_type, revision: 1, body },
  });
  for (const name of CATALOG.keys()) {
    const body = fullExample(name);
    assert.ok(validate(ready(name, body)), `${name}: ${ajv.errorsText(validate.errors)}`);
    assert.ok(validate(ready(name, { ...body, later: 1 })), `Versioning 2: ${name} may get new props`);
    assert.ok(!validate(ready(name, {})), `${name} has no required field`);
  }
  assert.ok(!validate(ready('hologram', {})));
});
