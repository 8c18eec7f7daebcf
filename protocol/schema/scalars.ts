/** Schemas of a flag and of a whole number, for bodies of every interface. */
import * as v from 'valibot';

export const flag = v.boolean('must be true or false');

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number('must be a number'), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}
