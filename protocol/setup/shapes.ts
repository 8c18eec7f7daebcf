/** The shapes that the bodies of the setup interface are made of: objects, maps, lists, numbers, rules across fields. */
import * as v from 'valibot';
import { KNOWLEDGE_KEY_MAX_CHARS, REASON_MAX_CHARS } from '../limits.ts';
import { boundedList, boundedMap, isObject } from '../schema/bounded.ts';
import { type Keywords, stated } from '../schema/stated.ts';
import { filledText, text } from '../schema/text.ts';

export const string = v.string('must be a string');
export const reason = v.optional(text(REASON_MAX_CHARS));
/** The caller's own name for an item. */
export const externalKey = filledText(KNOWLEDGE_KEY_MAX_CHARS);

type Fields<Entries extends v.ObjectEntries> = v.StrictObjectSchema<Entries, undefined>;

/** An object with these fields and no others. Unlike valibot's own, it does not take `[]` for an empty one. */
export function fields<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(v.custom<v.InferInput<Fields<Entries>>>(isObject, 'must be an object'), v.strictObject(entries)) as v.GenericSchema<
    v.InferInput<Fields<Entries>>,
    v.InferOutput<Fields<Entries>>
  >;
}

/** Names that are part of every JavaScript object; valibot would leave them out without a word. */
const INHERITED_NAMES = ['__proto__', 'constructor', 'prototype'];

export function mapOf<Value extends v.GenericSchema>(name: v.GenericSchema<string, string>, value: Value, max: number) {
  const inherited = `must not use ${INHERITED_NAMES.join(', ')} as names`;
  type Input = Record<string, v.InferInput<Value>>;
  const map = v.pipe(
    v.custom<Input>(isObject, 'must be an object'),
    stated(
      v.check((map: Input) => !INHERITED_NAMES.some((one) => Object.hasOwn(map, one)), inherited),
      {},
    ),
    boundedMap(name, value, max, `must have at most ${max} entries`),
    v.metadata({ allOf: [{ propertyNames: { not: { enum: INHERITED_NAMES } } }] }),
  );
  return map as v.GenericSchema<Input, Record<string, v.InferOutput<Value>>>;
}

export function listOf<const Item extends v.GenericSchema>(item: Item, min: number, max: number) {
  return v.pipe(
    boundedList(item, max, `must hold at most ${max} items`),
    v.minLength(min, min === 1 ? 'must hold at least one item' : `must hold at least ${min} items`),
  );
}

/**
 * A rule across the fields of an object. `field` is the one to correct: the path that the error names. `holds` must bear
 * values that break their own bounds.
 */
export function rule<Value>(field: string, holds: (value: Value) => boolean, message: string, keywords: Keywords) {
  const check = v.rawCheck<Value>(({ dataset, addIssue }) => {
    if (!dataset.typed || holds(dataset.value)) return;
    const [first, ...rest] = field
      .split('.')
      .filter((key) => key !== '')
      .map((key): v.UnknownPathItem => ({ type: 'unknown', origin: 'value', input: dataset.value, key, value: undefined }));
    addIssue(first === undefined ? { message } : { message, path: [first, ...rest] });
  });
  return stated(check, keywords);
}
