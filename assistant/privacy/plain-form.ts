/** A text with one way of writing what numbers are made of, and where words end beside one. Each character stays at its place. */

/** The zeros of all digits that a text is likely to be written in; nine more follow each. */
const ZEROS = '٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀႐០᠐᥆᧐᪀᪐᭐᮰᱀᱐꘠꣐꤀꧐꧰꩐꯰０';
const RANGES = Array.from(ZEROS, (zero) => `${zero}-${String.fromCharCode(zero.charCodeAt(0) + 9)}`).join('');
/** A digit but the western ones. Where they are far, in Latin and in Han, a look at three ranges is enough. */
export const OTHER_DIGIT = `[\\u0660-\\u1c59\\ua620-\\uabf9\\uff10-\\uff19](?<=[${RANGES}])`;
const digitOf = new Map(
  Array.from(ZEROS).flatMap((zero) =>
    Array.from({ length: 10 }, (_, value) => [String.fromCharCode(zero.charCodeAt(0) + value), String(value)]),
  ),
);

/** Soft hyphens, what is of no width, marks of direction; within a class of an expression. */
export const INVISIBLE = '\\u00ad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff';
/** Without ink. */
const BLANK = `\\t\\v\\f${INVISIBLE}`;
const DASHES = '\\u2010-\\u2015\\u2212\\u2500\\ufe58\\ufe63';
/** Written between digits for want of a dash: prolonged sound marks, middle dots, and a letter of Hangul. */
const LIKE_DASHES = 'ーｰ・･ㅡ';
/** Full-width signs, digits and letters, but the comma, which separates numbers. */
const FULL_WIDTH = '\\uff01-\\uff0b\\uff0d-\\uff5e';
const FULL_WIDTH_OFFSET = 0xfe_e0;

/** What may stand between two digits of one number, however it is written; within a class of an expression. */
export const BETWEEN_DIGITS = `\\s()./+\\-_~\\u0085${BLANK}${DASHES}${LIKE_DASHES}、，､〜～\\uff08\\uff09\\uff0b\\uff0d-\\uff0f\\uff3f`;

const OTHER = new RegExp(
  `[${FULL_WIDTH}]|${OTHER_DIGIT}|\\r\\n|[${BLANK}]|(?! )\\p{Zs}|[\\r\\u0085\\u2028\\u2029]|[${DASHES}]|[${LIKE_DASHES}](?<=[\\d${RANGES}].)(?=(?: {0,3}\\r?\\n {0,3})?[\\d${RANGES}])`,
  'gu',
);
const BREAK = /[\r\u0085\u2028\u2029]/;
const DASH = new RegExp(`[${DASHES}${LIKE_DASHES}]`);

function plain(written: string): string {
  if (written === '\r\n') return ' \n';
  const digit = digitOf.get(written);
  if (digit !== undefined) return digit;
  const code = written.charCodeAt(0);
  if (code > 0xff_00 && code < 0xff_5f) return String.fromCharCode(code - FULL_WIDTH_OFFSET);
  if (BREAK.test(written)) return '\n';
  return DASH.test(written) ? '-' : ' ';
}

/** Wave dashes, two at least, in a number that says that it is a telephone's; a single one makes a span. */
const WAVED = /(?<![\d~〜])(?:\+\d|0[1-9])\d{0,3}(?:[~〜]\d{1,8}){2,4}(?![\d~〜])/g;

/** `text` in its plain form, as long as it is (in UTF-16 units). What is invisible between digits counts as a space. */
export function plainForm(text: string): string {
  return text.replace(OTHER, plain).replace(WAVED, (number) => number.replace(/[~〜]/g, '-'));
}

/** What may stand between two characters of one number, in plain form (PRIVACY-2). Bounded: a search stays linear. */
export const GAP = ' {0,3}(?:[-._/] {0,3}\\n?|\\n {0,3}-?)? {0,3}';

/** Letters and digits that make a number beside them part of a longer one. Other scripts have no blank beside a number. */
export const GLUE = '\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{N}';
