/** Texts, names and values that programs stumble over: what fuzzers put where something ordinary belongs. */

import { programPumps } from '../../tools/expressions.ts';
import type { Dice } from '../support/seeded.ts';

/** The pumps of the program's expressions. */
const PUMPS = programPumps();

const PIECES: readonly string[] = [
  'a',
  'Anna ',
  'anna@example.invalid',
  '⟦email_1⟧',
  '⟦phone_2⟧',
  '⟦iban_1',
  '⟦',
  '⟧',
  '030 12345678 ',
  '+49 170 1234567',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  '\u202e',
  '\u2066\u200f',
  '\u200b\ufeff',
  '\ud800',
  '\udfff',
  '\ud83d\ude00',
  'e\u0301\u0301\u0301',
  '\u0000',
  '\r\n',
  '\n\n',
  '\t',
  '\\',
  '"',
  "'",
  '`',
  '$&',
  '%00',
  '%',
  '../',
  '{{param.id}}',
  '{{',
  '}}',
  '](',
  '![x](//h.invalid/',
  '[a]: ',
  '<a href=',
  '<!--',
  '<script>',
  '&#58;',
  '&amp',
  'https://h.invalid/?q=',
  'data:',
  '```json\n',
  '# ',
  '- ',
  '| a | b |\n',
  '٠١٢٣٤',
  '０１２',
  '1e309',
  '-0',
  'NaN',
  'null',
  'true',
  '[',
  '{"a":',
  '}',
  ':',
  ',',
  ' ',
  ...PUMPS,
];

const NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
  'valueOf',
  '',
  ' ',
  '0',
  '-1',
  'id',
  'order_id',
  'phone',
  'telefon',
  'type',
  '$ref',
  'a.b[0]',
  '⟦email_1⟧',
  'anna@example.invalid',
  '\u202ename',
  '\ud800',
  '\u0000',
];

const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e21,
  1e-7,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  4_111_111_111_111_111,
  1_700_000_000_000,
];

/** Short as a rule, now and then as long as `maxChars`. */
export function hostileText(dice: Dice, maxChars: number): string {
  const end = dice.below(40) === 0 ? dice.between(1, maxChars) : dice.between(1, Math.min(60, maxChars));
  if (dice.below(4) === 0) return dice.pick(PIECES).repeat(end).slice(0, end);
  let text = '';
  // Each piece has a character at least, so there are at most `end` of them; a long text repeats what it has.
  while (text.length < end) {
    const piece = dice.pick(PIECES);
    text += end > 1_000 ? piece.repeat(dice.between(1, 200)) : piece;
  }
  return text.slice(0, end);
}

/** The name of a field. */
export function hostileName(dice: Dice, maxChars: number): string {
  return dice.below(2) === 0 ? dice.pick(NAMES) : hostileText(dice, maxChars);
}

export function hostileNumber(dice: Dice): number {
  return dice.below(2) === 0 ? dice.pick(NUMBERS) : (dice.below(2) === 0 ? 1 : -1) * dice.below(2 ** 31) * (dice.below(2) === 0 ? 1 : 0.37);
}

const DEPTH_MAX = 5;

/** Any JSON; `__proto__` is a field of its own, as JSON.parse makes it. */
export function hostileValue(dice: Dice, maxChars: number, depth = 0): unknown {
  const kind = dice.below(depth < DEPTH_MAX ? 9 : 6);
  if (kind < 2) return hostileText(dice, maxChars);
  if (kind < 4) return hostileNumber(dice);
  if (kind === 4) return null;
  if (kind === 5) return dice.below(2) === 0;
  if (kind === 6) return nested(dice.between(1, 80));
  const length = dice.below(5);
  if (kind === 7) return Array.from({ length }, () => hostileValue(dice, maxChars, depth + 1));
  return objectOf(Array.from({ length }, () => [hostileName(dice, maxChars), hostileValue(dice, maxChars, depth + 1)]));
}

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

/** An object with these as fields of its own, whatever they are called. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of entries) Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  return made;
}

/** Bytes with some of them changed, cut, doubled, moved or exchanged. */
export function damaged(dice: Dice, bytes: Uint8Array): Buffer {
  let made = Buffer.from(bytes);
  for (let left = dice.between(1, 6); left > 0; left--) {
    const at = dice.below(made.length + 1);
    const to = Math.min(made.length, at + dice.below(dice.below(3) === 0 ? 400 : 8));
    const part = made.subarray(at, to);
    const kind = dice.below(13) % 7;
    if (kind === 0 && at < made.length) made[at] = (made[at] ?? 0) ^ (1 << dice.below(8));
    else if (kind === 1 && at < made.length) made[at] = dice.pick([0, 0xff, 0x7f, 0x80, 0x0a, 0x3c, 0x28, dice.below(256)]);
    else if (kind === 2) made = Buffer.concat([made.subarray(0, at), made.subarray(to)]);
    else if (kind === 3) made = Buffer.concat([made.subarray(0, to), ...Array<Buffer>(dice.between(1, 20)).fill(part), made.subarray(to)]);
    else if (kind === 4) made = Buffer.concat([made.subarray(0, at), Buffer.from(hostileText(dice, 200)), made.subarray(at)]);
    else if (kind === 5) made = Buffer.concat([made.subarray(at), made.subarray(0, at)]);
    else made = withOtherNumber(dice, made);
  }
  return made;
}

/** One of the decimal numbers in the bytes replaced: lengths, counts and offsets of text formats. */
function withOtherNumber(dice: Dice, bytes: Buffer): Buffer<ArrayBuffer> {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  const found = numbers[dice.below(numbers.length + 1)];
  if (found === undefined) return Buffer.from(bytes);
  const other = dice.pick(['0', '-1', '1', '99999999999', '2147483648', '65536', '1e9', String(dice.below(2_000))]);
  return Buffer.from(text.slice(0, found.index) + other + text.slice(found.index + found[0].length), 'latin1');
}
