/** What a model is shown of the components: less than their schemas say, and nothing else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, modelBody } from '../../../protocol/catalog/catalog.ts';
import type { JsonSchema } from '../../../protocol/catalog/component.ts';
import { shownSchema } from '../../../protocol/catalog/shown-schema.ts';
import { type Schema, valueFor } from '../../fuzz/from-schema.ts';
import { createDice } from '../../support/seeded.ts';
import { ajv } from '../schema-agreement.ts';
import { MODEL_EXAMPLES } from './examples.ts';

const COMPONENTS = [...CATALOG.values()].filter(({ offered }) => offered);

const fieldsOf = (schema: JsonSchema) => Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>);
const below = ({ items, anyOf }: JsonSchema): JsonSchema[] =>
  [...(items === undefined ? [] : [items]), ...((anyOf as JsonSchema[] | undefined) ?? [])] as JsonSchema[];

/** Every object within the schema. */
function objectsIn(schema: JsonSchema): JsonSchema[] {
  const own = schema.properties === undefined ? [] : [schema];
  return [...own, ...fieldsOf(schema).flatMap(([, field]) => objectsIn(field)), ...below(schema).flatMap(objectsIn)];
}

/** The fields that `words` gives an object, the text of each without what stands in braces and parentheses of its own. */
function objectsToldIn(words: string): string[][] {
  const found: string[][] = [];
  const open: { text: string; depth: number }[] = [];
  let depth = 0;
  for (const character of words) {
    const at = open.at(-1);
    if (character === '{') open.push({ text: '', depth });
    else if (character === '}') {
      found.push((open.pop()?.text ?? '').split(', '));
    } else {
      if (character === '(') depth++;
      if (at !== undefined && depth === at.depth) at.text += character;
      if (character === ')') depth--;
    }
  }
  return found;
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const begins = (field: string, wanted: string) => field.startsWith(wanted) && !/^[a-z_?|]/.test(field.slice(wanted.length));

describe('BLOCK-6: what a model is shown of a component says no more and no less than a body needs', () => {
  test('whatever its schema lets through, what is shown lets through: examples, and values made of the schema', () => {
    for (const { name, parameters } of COMPONENTS) {
      const [full, short] = [ajv.compile(parameters), ajv.compile(shownSchema(parameters))];
      for (const example of MODEL_EXAMPLES[name] ?? []) {
        assert.equal(modelBody(name, example, { blockId: 'blk_1' }).ok, true, name);
        assert.equal(short(example), true, name);
      }
      let fitting = 0;
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
          const value = valueFor(parameters as Schema, { dice: createDice(seed), oddOneIn: Infinity, known: new Map() });
          if (!full(value)) return;
          fitting++;
          assert.equal(short(value), true, JSON.stringify([value, short.errors]));
        }),
        { numRuns: 60 },
      );
      assert.ok(fitting > 20, `${name}: only ${fitting} of 60 values fit the schema`);
    }
  });

  test('a body without a required field of its own, or with a value that is not allowed, is not let through', () => {
    for (const { name, parameters } of COMPONENTS) {
      const short = ajv.compile(shownSchema(parameters));
      const [example] = MODEL_EXAMPLES[name] ?? [];
      for (const field of parameters.required as string[]) {
        const { [field]: _left, ...rest } = example as Readonly<Record<string, unknown>>;
        assert.equal(short(rest), false, `${name} without ${field}`);
      }
      for (const [field, { enum: values }] of fieldsOf(parameters)) {
        if (values !== undefined) assert.equal(short({ ...example, [field]: 'hologram' }), false, `${name}.${field}`);
      }
    }
  });

  test('each field at any depth is told, whether it is required, and each value that is allowed', () => {
    for (const { name, parameters } of COMPONENTS) {
      const short = shownSchema(parameters);
      assert.deepEqual(Object.keys(short.properties as object), Object.keys(parameters.properties as object));
      assert.deepEqual(short.required, parameters.required);
      const told = textsOf(short.properties).flatMap(objectsToldIn);
      const inner = fieldsOf(parameters).flatMap(([, field]) => objectsIn(field));
      assert.equal(told.length, inner.length, name);
      for (const object of inner) {
        const required = object.required as string[];
        const wanted = fieldsOf(object).map(([field, { enum: values }]) => {
          const allowed = Array.isArray(values) ? `: ${values.join('|')}` : '';
          return `${field}${required.includes(field) ? '' : '?'}${allowed}`;
        });
        const isTold = (fields: readonly string[]) =>
          fields.length === wanted.length && fields.every((field, at) => begins(field, wanted[at] ?? ''));
        assert.ok(told.some(isTold), `${name}: ${wanted.join(', ')} is not in ${JSON.stringify(told)}`);
      }
    }
  });

  test('only what every server of models takes stands in it', () => {
    const KEYWORDS = new Set(['type', 'properties', 'required', 'items', 'enum', 'anyOf', 'description']);
    const check = (schema: JsonSchema) => {
      for (const keyword of Object.keys(schema)) assert.ok(KEYWORDS.has(keyword), keyword);
      assert.equal(typeof schema.type, 'string');
      assert.ok(schema.type !== 'array' || schema.items !== undefined, 'a list says what it holds');
      for (const [, field] of fieldsOf(schema)) check(field);
      for (const inner of below(schema)) check(inner);
    };
    for (const { parameters } of COMPONENTS) check(shownSchema(parameters));
  });
});
