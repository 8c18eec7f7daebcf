/** The objects that the bodies of the runtime interface are made of: open ones, because newer SDKs add fields (decisions §4). */
import * as v from 'valibot';
import { isObject } from '../setup/shapes.ts';

type Open<Entries extends v.ObjectEntries> = v.ObjectSchema<Entries, undefined>;
type Loose<Entries extends v.ObjectEntries> = v.LooseObjectSchema<Entries, undefined>;

const MESSAGE = 'must be an object';

/** An object with these fields; others are left out. Unlike valibot's own, it does not take `[]` for an object. */
export function openObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(v.custom<v.InferInput<Open<Entries>>>(isObject, MESSAGE), v.object(entries)) as v.GenericSchema<
    v.InferInput<Open<Entries>>,
    v.InferOutput<Open<Entries>>
  >;
}

/** As `openObject`, but what else the caller sent is kept. */
export function keepingObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(v.custom<v.InferInput<Loose<Entries>>>(isObject, MESSAGE), v.looseObject(entries)) as v.GenericSchema<
    v.InferInput<Loose<Entries>>,
    v.InferOutput<Loose<Entries>>
  >;
}

/** The revision of a block that a person saw. */
export const revision = v.pipe(v.number('must be a number'), v.safeInteger('must be a whole number'), v.minValue(1, 'must be at least 1'));
