/**
 * The words that stand where personal data was (PRIVACY-1): `⟦email_1⟧`. `text` stands for what only looks like one: its writer sees it
 * again, and never somebody's address. A value that is not kept becomes `⟦email⟧`: nobody is ever shown it again.
 */
import { PLACEHOLDER_CLOSES, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';

export const PLACEHOLDER_KINDS = ['email', 'phone', 'card', 'iban', 'text'] as const;
export type PlaceholderKind = (typeof PLACEHOLDER_KINDS)[number];

/** Digits of a number: more values than a conversation can say. */
const NUMBER_MAX_DIGITS = 7;

export const RESTORABLE = new RegExp(
  `${PLACEHOLDER_OPENS}(?:${PLACEHOLDER_KINDS.join('|')})_[1-9]\\d{0,${NUMBER_MAX_DIGITS - 1}}${PLACEHOLDER_CLOSES}`,
  'g',
);

const PARTS = new RegExp(
  `^${PLACEHOLDER_OPENS}(${PLACEHOLDER_KINDS.join('|')})_([1-9]\\d{0,${NUMBER_MAX_DIGITS - 1}})${PLACEHOLDER_CLOSES}$`,
);

/** The longest text that a placeholder can begin with and not be complete. */
const UNFINISHED = new RegExp(
  `^${PLACEHOLDER_OPENS}(?:${PLACEHOLDER_KINDS.map(unfinishedKind).join('|')}|(?:${PLACEHOLDER_KINDS.join('|')})_(?:[1-9]\\d{0,${NUMBER_MAX_DIGITS - 1}})?)$`,
);

/** A pattern of every beginning of the word, the empty one and the whole one too: `(?:e(?:m(?:…)?)?)?`. */
function unfinishedKind(kind: string): string {
  return [...kind].reduceRight((rest, letter) => `(?:${letter}${rest})?`, '');
}

export function isUnfinished(text: string): boolean {
  return UNFINISHED.test(text);
}

export function placeholderOf(kind: PlaceholderKind, number: number | undefined): string {
  return `${PLACEHOLDER_OPENS}${kind}${number === undefined ? '' : `_${number}`}${PLACEHOLDER_CLOSES}`;
}

export function partsOf(placeholder: string): { readonly kind: string; readonly number: number } | undefined {
  const [, kind, number] = PARTS.exec(placeholder) ?? [];
  return kind === undefined ? undefined : { kind, number: Number(number) };
}

export function isPlaceholderKind(kind: string): kind is PlaceholderKind {
  return (PLACEHOLDER_KINDS as readonly string[]).includes(kind);
}

export interface Finding {
  readonly kind: PlaceholderKind;
  /** UTF-16 code units from the beginning of the text, the end excluded. */
  readonly start: number;
  readonly end: number;
  readonly value: string;
}
