/**
 * Text that comes in many small pieces. V8 keeps `text + piece` as a tree of ten times the text, so it is written out at every 64
 * characters, of long texts at every eighth of their length: a character is copied some eight times at most.
 */

/** As a power of two. */
const STEP_MIN_BITS = 6;
/** An eighth, as a power of two. */
const SHARE_BITS = 3;
const LENGTH_BITS = 31;

export function appended(text: string, piece: string): string {
  const length = text.length + piece.length;
  const bits = Math.max(STEP_MIN_BITS, LENGTH_BITS - Math.clz32(length) - SHARE_BITS);
  // Whether it passes a multiple of the step. What is joined from a list is written out.
  return text.length >> bits === length >> bits ? text + piece : [text, piece].join('');
}
