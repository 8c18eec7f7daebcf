/**
 * A text with one way of writing what numbers are made of: western digits, one kind of space, of dash and of line break. Each character
 * stays one character at its place, so that what is found here is found there.
 */

const OTHER =
  /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]|\r\n|[\t\v\f\u00ad\u200b-\u200d\u2060\ufeff]|(?! )\p{Zs}|[\r\u0085\u2028\u2029]|[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/gu;
const DIGIT = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/;
const BREAK = /[\r\u0085\u2028\u2029]/;
const DASH = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/;

function plain(written: string): string {
  if (written === '\r\n') return ' \n';
  // The zeros are U+0660, U+06F0 and U+FF10: the low four bits are the digit.
  if (DIGIT.test(written)) return String(written.charCodeAt(0) & 0xf);
  if (BREAK.test(written)) return '\n';
  return DASH.test(written) ? '-' : ' ';
}

/** `text` in its plain form, as long as it is (in UTF-16 units). What is invisible between digits counts as a space. */
export function plainForm(text: string): string {
  return text.replace(OTHER, plain);
}

/** What may stand between two characters of one number, in plain form (PRIVACY-2). Bounded: a search stays linear. */
export const GAP = ' {0,3}[-._/\\n]? {0,3}';
