/** Card numbers and IBANs in text (decisions §9), each by its own checksum. */
import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import type { Finding } from './find.ts';

/** Prefixes and lengths that issuers use; IMEIs, SIM cards, article numbers and times in milliseconds begin otherwise. */
const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-59]|[689])/, [14, 16, 19]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:50[0-9]|5[6-8]|6304|67)/, [13, 14, 15, 16, 17, 18, 19]],
  [/^220[0-4]/, [16, 17, 18, 19]],
  [/^(?:60|8[12]|508)/, [16]],
];

const GAP = '[ \\u00a0-]';
/** As cards are printed and typed: fours (and a rest), 4-6-5, 4-6-4, 6-13, 4-3-3-3, or without any gap. */
const CARD = new RegExp(
  `(?<![\\p{L}\\p{N}_#=/.-])(?:\\d{4}(${GAP})\\d{4}\\1\\d{4}\\1\\d{4}(?:\\1\\d{1,3})?|\\d{4}(${GAP})\\d{6}\\2\\d{4,5}|` +
    `\\d{6}${GAP}\\d{13}|\\d{4}(${GAP})\\d{3}\\3\\d{3}\\3\\d{3}|\\d{13,19})(?![\\p{L}\\p{N}_]|[-./]\\d)`,
  'gu',
);
/** The rest after four fours; it may be the three digits from the back of the card instead. */
const REST = new RegExp(`^((?:\\d{4}${GAP}){3}\\d{4})${GAP}\\d{1,3}$`);

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

function isCard(written: string): boolean {
  const digits = written.replace(/\D/g, '');
  if (!ISSUERS.some(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length))) return false;
  // Thirteen digits in a row are an article number (EAN) far more often than one of the first Visa cards.
  if (written.length === 13 && isChecked(digits, (digit) => digit * 3)) return false;
  return isChecked(digits, luhn);
}

/** Card numbers of 13 to 19 digits in usual groupings, with an issuer's prefix and Luhn's digit. */
export function findCards(text: string): Finding[] {
  const findings: Finding[] = [];
  CARD.lastIndex = 0;
  for (let match = CARD.exec(text); match !== null; match = CARD.exec(text)) {
    const [written] = match;
    const value = isCard(written) ? written : REST.exec(written)?.[1];
    if (value !== undefined && isCard(value)) {
      findings.push({ kind: 'card', start: match.index, end: match.index + value.length, value });
      CARD.lastIndex = match.index + value.length;
    } else {
      // The number may begin with a later group.
      CARD.lastIndex = match.index + 1;
    }
  }
  return findings;
}

/** A country, check digits and at least the shortest account's characters (Norway's eleven). */
const IBAN = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[ \u00a0-]?[A-Z0-9]){11}/giu;
const IBAN_NEXT = /[ \u00a0-]?[A-Z0-9]/iy;
const GLUED = /[\p{L}\p{N}_]/u;

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
  const compact = written.replace(/[ \u00a0-]/g, '').toUpperCase();
  // Some countries check their banks' numbers once more; an IBAN that a person got wrong there tells as much.
  return validateIBAN(compact).errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/** IBANs, in groups or not, of their country's length and with the right remainder of 97. */
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
