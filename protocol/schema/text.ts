/** Text bounds in code points, not UTF-16 units (SETUP-31). */
import * as v from 'valibot';
import { stated } from './stated.ts';

export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** True when `text` has at most `max` code points. A string never has more code points than UTF-16 units. */
export function fits(text: string, max: number): boolean {
  return text.length <= max || (text.length <= max * 2 && codePoints(text) <= max);
}

/** True when `text` takes at most `max` bytes as UTF-8. Counted by hand, because the types that clients share must do without `Buffer`. */
export function fitsBytes(text: string, max: number): boolean {
  // A UTF-16 unit takes three bytes at most.
  if (text.length * 3 <= max) return true;
  let bytes = 0;
  for (let at = 0; at < text.length && bytes <= max; at++) {
    const unit = text.charCodeAt(at);
    // Half of a pair takes two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes <= max;
}

/** `text` cut to `max` code points, ending in an ellipsis when cut. */
export function clip(text: string, max: number): string {
  if (fits(text, max)) return text;
  return `${[...text].slice(0, max - 1).join('')}…`;
}

/** `text` without those of `chars` that it ends in. In a time that grows with their number: `/[…]+$/` begins anew at each of them. */
export function withoutEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Schema of a string of `min` to `max` code points. */
export function text(max: number, min = 0) {
  return v.pipe(
    v.string('must be a string'),
    // What the two checks ask for, JSON Schema is told by the metadata below.
    stated(
      v.check((value: string) => fits(value, max), `must be at most ${max} characters`),
      {},
    ),
    stated(
      v.check((value: string) => min === 0 || value.length >= min, min === 1 ? 'must not be empty' : `must be at least ${min} characters`),
      {},
    ),
    v.metadata({ maxLength: max, ...(min > 0 ? { minLength: min } : {}) }),
  );
}

export const SAYS_SOMETHING = /\S/;

/** Whether there is more in it than white space. */
export function saysSomething(text: string): boolean {
  return SAYS_SOMETHING.test(text);
}

/** Schema of a string of at most `max` code points that says something: not empty, not only white space. */
export function filledText(max: number) {
  return v.pipe(text(max, 1), v.regex(SAYS_SOMETHING, 'must not be blank'));
}

/** Schema of a name of the caller's: lower snake_case, at most `max` characters. */
export function snakeCase(max: number) {
  return v.pipe(
    v.string('must be a string'),
    v.regex(
      /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/,
      'must be snake_case: lowercase letters, digits and single underscores, starting with a letter',
    ),
    v.maxLength(max, `must be at most ${max} characters`),
  );
}
