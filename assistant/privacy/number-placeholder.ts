/** Placeholders of whole numbers: a call keeps `⟦#phone_1⟧`, which comes back as the number. The model never sees it. */
import { PLACEHOLDER_CLOSES, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { PLACEHOLDER_KINDS, partsOf } from './placeholder.ts';

const MARK = `${PLACEHOLDER_OPENS}#`;
const KINDS = PLACEHOLDER_KINDS.join('|');
const MARKED = new RegExp(`^${MARK}((?:${KINDS})_[1-9]\\d{0,6})${PLACEHOLDER_CLOSES}$`);
/** A whole string of JSON text; within a string the quotes would be escaped. */
const MARKED_IN_JSON = new RegExp(`"${MARK}((?:${KINDS})_[1-9]\\d{0,6})${PLACEHOLDER_CLOSES}"`, 'g');

function wholeNumber(text: string | undefined): number | undefined {
  const number = Number(text);
  return text !== undefined && Number.isSafeInteger(number) && String(number) === text ? number : undefined;
}

const plain = (name: string) => `${PLACEHOLDER_OPENS}${name}${PLACEHOLDER_CLOSES}`;

/** A number that a placeholder stands for, and the form in which a call keeps it. */
export interface NumberStandIn {
  readonly value: number;
  readonly kept: string;
}

/** What the text stands for, if it is the placeholder of a whole number; `restored` puts values in the place of placeholders. */
export function numberStandIn(text: string, restored: (placeholder: string) => string): NumberStandIn | undefined {
  if (partsOf(text) === undefined) return undefined;
  const value = wholeNumber(restored(text));
  return value === undefined ? undefined : { value, kept: MARK + text.slice(PLACEHOLDER_OPENS.length) };
}

/** As the model, and a person, is shown it: the placeholder that the model wrote. */
export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, PLACEHOLDER_OPENS);
}

export function isMarkedNumber(text: string): boolean {
  return text.startsWith(MARK) && MARKED.test(text);
}

export function restoreNumbers(value: unknown, restored: (placeholder: string) => string): unknown {
  if (typeof value === 'string') {
    const name = MARKED.exec(value)?.[1];
    return name === undefined ? value : (wholeNumber(restored(plain(name))) ?? value);
  }
  if (Array.isArray(value)) return value.map((item) => restoreNumbers(item, restored));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restoreNumbers(member, restored)]));
}

export function restoreNumbersJson(text: string, restored: (placeholder: string) => string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(MARKED_IN_JSON, (marked, inner: string) => String(wholeNumber(restored(plain(inner))) ?? marked));
}
