/** Schemas of bounded lists, maps and numbers, and of flags, for bodies of every interface. */
import * as v from 'valibot';

export const flag = v.boolean('must be true or false');

export function whole(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number('must be a number'), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

/** Whether the value is what JSON calls an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of at most `max` items; of a longer one `tooMany` is all that is said: explaining a million wrong items would block the event loop. */
export function boundedList<const Item extends v.GenericSchema>(item: Item, max: number, tooMany: string) {
  const counted = v.maxLength<v.InferInput<Item>[], number, string>(max, tooMany);
  return v.pipe(
    v.custom<v.InferInput<Item>[]>((value) => Array.isArray(value), 'must be an array'),
    counted,
    v.array(item, 'must be an array'),
    // JSON Schema is made of what stands behind the list.
    v.maxLength(max, tooMany),
  );
}

/** An object whose keys are names of the caller's, at most `max` of them; of a larger one `tooMany` is all that is said. */
export function boundedMap<Value extends v.GenericSchema>(
  name: v.GenericSchema<string, string>,
  value: Value,
  max: number,
  tooMany: string,
) {
  type Input = Record<string, v.InferInput<Value>>;
  return v.pipe(
    v.custom<Input>(isObject, 'must be an object'),
    v.maxEntries<Input, number, string>(max, tooMany),
    v.record(name, value, 'must be an object'),
    v.maxEntries(max, tooMany),
  );
}
