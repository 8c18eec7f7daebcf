/**
 * IBANs and card numbers (PRIVACY-2), these by issuer's prefix, length and Luhn's digit. In usual groups they are found among other numbers; in others only
 * where nothing stands beside, so that prices, dates and lists stay what they are.
 */

import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import type { Finding } from './placeholder.ts';
import { GAP, GLUE } from './plain-form.ts';

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;
/** Groups of somebody's own, of different lengths: more of them are a list of numbers. */
const OWN_GROUPS_MAX = 5;

/** Prefixes and lengths that issuers use; IMEIs, SIM cards, article numbers and times in milliseconds begin otherwise. */
const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-59]|[689])/, [14, 16, 19]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 19]],
  [/^62/, [16, 17, 18, 19]],
];
/** These say little by themselves: their prefixes are many and their lengths all, so that only usual groups are believed. */
const VAGUE_ISSUERS: typeof ISSUERS = [
  [/^(?:50[0-9]|5[6-8]|6304|67)/, [13, 14, 15, 16, 17, 18, 19]],
  [/^220[0-4]/, [16, 17, 18, 19]],
  [/^(?:60|8[12]|508)/, [16]],
];

/** As cards are printed and typed. Longer first, where one begins like the other. */
const USUAL_GROUPS = new Set(
  '4-4-4-4-3 4-4-4-4-2 4-4-4-4-1 4-4-4-4 4-6-5 4-6-4 6-13 4-3-3-3 8-8 4-4-8 8-4-4 4-12 6-10 4-4-4-1 4-4-4-2 4-4-4-3 13 14 15 16 17 18 19'.split(
    ' ',
  ),
);

const USUAL_GROUPS_MAX = 5;

const RUN = new RegExp(`\\d(?:${GAP}\\d)*`, 'g');
const GROUP = /\d+/g;
const GLUED = new RegExp(`[${GLUE}]`, 'u');
/** A word that a number goes on, or is joined to as parts of an identifier are: `ORD-4111…`. */
const IDENTIFIER_BEFORE = new RegExp(`[${GLUE}][-_]?$`, 'u');
/** Unless the word says what the number is. */
const CARD_BEFORE = /(?:card|karte|carte|tarjeta|carta|cart[aã]o|kaart|pan|cc|visa|amex|master|maestro|no|nr|num(?:ber|mer)?)[-_]?$/iu;
const BEFORE_MAX_CHARS = 16;

interface Group {
  readonly start: number;
  readonly end: number;
}

/** True of digits whose last one is right when every `weights`-th (from the right) counts that often. */
function isChecked(digits: string, weigh: (digit: number) => number): boolean {
  let sum = 0;
  for (let i = 1; i <= digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - i) - 48;
    sum += i % 2 === 0 ? weigh(digit) : digit;
  }
  return sum % 10 === 0;
}

const luhn = (digit: number) => (digit > 4 ? digit * 2 - 9 : digit * 2);

function isIssued(digits: string, issuers: typeof ISSUERS): boolean {
  return issuers.some(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length));
}

/** One run of digits with nothing but gaps between them. */
class CardSearch {
  readonly #text: string;
  readonly #groups: readonly Group[];

  /** All of the run together may be a card, in groups of somebody's own. */
  readonly #mayBeAlone: boolean;

  constructor(text: string, groups: readonly Group[]) {
    this.#text = text;
    this.#groups = groups;
    this.#mayBeAlone = groups.length <= DIGITS_MAX && groups.reduce((sum, { start, end }) => sum + end - start, 0) <= DIGITS_MAX;
  }

  end(first: number): number | undefined {
    let found: number | undefined;
    let digits = '';
    const groups = Math.min(this.#groups.length, this.#mayBeAlone ? this.#groups.length : first + USUAL_GROUPS_MAX);
    for (let last = first; last < groups; last++) {
      digits += this.#digits(last);
      if (digits.length > DIGITS_MAX) break;
      if (digits.length >= DIGITS_MIN && this.#isCard(digits, first, last)) found = last;
    }
    return found;
  }

  #digits(at: number): string {
    const { start, end } = this.#groups[at] as Group;
    return this.#text.slice(start, end);
  }

  #isCard(digits: string, first: number, last: number): boolean {
    const sizes = this.#groups.slice(first, last + 1).map(({ start, end }) => end - start);
    const isUsual = USUAL_GROUPS.has(sizes.join('-'));
    const isAlone = first === 0 && last === this.#groups.length - 1;
    if (!isUsual && !(isAlone && this.#isOwnGrouping(sizes))) return false;
    if (!isIssued(digits, ISSUERS) && !(isUsual && isIssued(digits, VAGUE_ISSUERS))) return false;
    // Thirteen digits in a row are an article number (EAN) far more often than one of the first Visa cards.
    if (sizes.length === 1 && digits.length === DIGITS_MIN && isChecked(digits, (digit) => digit * 3)) return false;
    return isChecked(digits, luhn) && this.#mayBegin(first, sizes.length) && this.#mayEnd(last, sizes.length);
  }

  /** The same number of digits in each group but the last, or few groups; a fraction after a full stop is no group. */
  #isOwnGrouping(sizes: readonly number[]): boolean {
    if (sizes.length === 2 && this.#separator(0) === '.') return false;
    return sizes.length <= OWN_GROUPS_MAX || sizes.slice(0, -1).every((size) => size === sizes[0]);
  }

  #separator(at: number): string {
    const { end } = this.#groups[at] as Group;
    return this.#text.slice(end, this.#groups[at + 1]?.start ?? end).trim();
  }

  #mayBegin(first: number, count: number): boolean {
    const { start } = this.#groups[first] as Group;
    if (first > 0) {
      const before = this.#separator(first - 1);
      // One more group of the same kind, or the digits before a fraction.
      return before === '' || (count === 1 ? before !== '.' : before !== this.#separator(first));
    }
    const before = this.#text.slice(Math.max(0, start - BEFORE_MAX_CHARS), start);
    if (before.endsWith('+')) return false;
    return !IDENTIFIER_BEFORE.test(before) || CARD_BEFORE.test(before);
  }

  #mayEnd(last: number, count: number): boolean {
    const { end } = this.#groups[last] as Group;
    if (GLUED.test(this.#text.charAt(end))) return false;
    const after = last < this.#groups.length - 1 ? this.#separator(last) : '';
    return after === '' || count === 1 || after !== this.#separator(last - 1);
  }
}

/** Card numbers of 13 to 19 digits, with an issuer's prefix and Luhn's digit. `text` is in plain form. */
export function findCards(text: string): Finding[] {
  const findings: Finding[] = [];
  for (const run of text.matchAll(RUN)) {
    if (run[0].length < DIGITS_MIN) continue;
    const groups = Array.from(run[0].matchAll(GROUP), ({ 0: digits, index }) => {
      const start = run.index + index;
      return { start, end: start + digits.length };
    });
    const search = new CardSearch(text, groups);
    for (let first = 0; first < groups.length; ) {
      const last = search.end(first);
      if (last !== undefined) {
        const [start, end] = [groups[first]?.start ?? 0, groups[last]?.end ?? 0];
        findings.push({ kind: 'card', start, end, value: text.slice(start, end) });
      }
      first = (last ?? first) + 1;
    }
  }
  return findings;
}

/** A country, check digits and at least the shortest account's characters (Norway's eleven). */
const IBAN = new RegExp(`(?<![${GLUE}](?<!iban))[A-Z]{2} ?\\d{2}(?:${GAP}[A-Z0-9]){11}`, 'giu');
const IBAN_NEXT = new RegExp(`${GAP}[A-Z0-9]`, 'iy');

/** Where the `chars` letters and digits end that begin at `start`; undefined when there are fewer, or more follow at once. */
function endOfIban(text: string, start: number, chars: number): number | undefined {
  let end = start;
  for (let taken = 0; taken < chars; taken++) {
    IBAN_NEXT.lastIndex = end;
    if (!IBAN_NEXT.test(text)) return undefined;
    end = IBAN_NEXT.lastIndex;
  }
  return GLUED.test(text.charAt(end)) ? undefined : end;
}

function isIban(written: string): boolean {
  const compact = written.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
  // Some countries check their banks' numbers once more; an IBAN that a person got wrong there tells as much.
  return validateIBAN(compact).errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/** IBANs of their country's length and with the right remainder of 97. `text` is in plain form. */
export function findIbans(text: string): Finding[] {
  const findings: Finding[] = [];
  IBAN.lastIndex = 0;
  for (let match = IBAN.exec(text); match !== null; match = IBAN.exec(text)) {
    const start = match.index;
    const chars = countrySpecs[match[0].slice(0, 2).toUpperCase()]?.chars;
    const end = typeof chars === 'number' ? endOfIban(text, start, chars) : undefined;
    const value = end === undefined ? undefined : text.slice(start, end);
    const isFound = end !== undefined && value !== undefined && isIban(value);
    if (isFound) findings.push({ kind: 'iban', start, end, value });
    IBAN.lastIndex = isFound ? end : start + 1;
  }
  return findings;
}
