/**
 * What stands for what in one conversation (PRIVACY-7), in memory. It numbers and stores nothing. Values are private fields, so that
 * printing a table shows none.
 */
import { JSON_DEPTH_MAX } from '../../protocol/limits.ts';
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { findPersonalData, rulesFor } from './find.ts';
import { type PlaceholderKind, partsOf, placeholderOf, RESTORABLE } from './placeholder.ts';
import { RedactionWork } from './redaction-work.ts';

const WORD = /\S+/g;
const MAY_BE_PERSONAL = /[\p{N}@＠⟦⟧]/u;
const HIDDEN = placeholderOf('text', undefined);

/** The text with `⟦text⟧` in the place of each such word, and of several in a row. */
export function redactCoarsely(text: string): string {
  let redacted = '';
  let from = 0;
  let isHiding = false;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const hides = MAY_BE_PERSONAL.test(word);
    if (!(hides && isHiding)) redacted += text.slice(from, index) + (hides ? HIDDEN : word);
    isHiding = hides;
    from = index + word.length;
  }
  return redacted + text.slice(from);
}

/** Asked for a placeholder that the table does not know: its value, if there is one after all. */
export type FindValue = (placeholder: string) => string | undefined;

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function asItIs(value: string): string {
  return value;
}

class Tables {
  readonly values = new Map<string, string>();
  readonly placeholders = new Map<string, string>();
  readonly highest = new Map<PlaceholderKind, number>();
}

export class PlaceholderTable {
  /** Made for the first value: most conversations have none. */
  #tables: Tables | null = null;

  get size(): number {
    return this.#tables?.values.size ?? 0;
  }

  add(kind: PlaceholderKind, number: number, value: string): void {
    this.#tables ??= new Tables();
    const { values, placeholders, highest } = this.#tables;
    const placeholder = placeholderOf(kind, number);
    values.set(placeholder, value);
    placeholders.set(`${kind} ${value}`, placeholder);
    highest.set(kind, Math.max(number, highest.get(kind) ?? 0));
  }

  nextNumber(kind: PlaceholderKind): number {
    return (this.#tables?.highest.get(kind) ?? 0) + 1;
  }

  placeholderFor(kind: PlaceholderKind, value: string): string | undefined {
    return this.#tables?.placeholders.get(`${kind} ${value}`);
  }

  /** Forgets what was added first, down to `max` values. For values that lie in rows only: numbers are given on from the highest. */
  trim(max: number): void {
    if (this.#tables === null) return;
    const { values, placeholders } = this.#tables;
    let over = values.size - max;
    if (over <= 0) return;
    for (const [placeholder, value] of values) {
      if (over-- <= 0) return;
      values.delete(placeholder);
      placeholders.delete(`${partsOf(placeholder)?.kind} ${value}`);
    }
  }

  /** The text with every known placeholder's value in its place; unknown ones stay unless `find` knows them. */
  restore(text: string, find?: FindValue): string {
    return this.#restore(text, asItIs, find);
  }

  /** The same within text that is JSON, or frames of it: values are inserted as they stand in a JSON string. */
  restoreJson(text: string, find?: FindValue): string {
    return this.#restore(text, inJson, find);
  }

  #restore(text: string, write: (value: string) => string, find: FindValue | undefined): string {
    if (!text.includes(PLACEHOLDER_OPENS)) return text;
    return text.replace(RESTORABLE, (placeholder) => {
      const value = this.#tables?.values.get(placeholder) ?? find?.(placeholder);
      return value === undefined ? placeholder : write(value);
    });
  }
}

export interface TextPlace {
  readonly regions: readonly string[];
  readonly label: string;
  /** False of what the model wrote: a placeholder in it is one. */
  readonly lookalikes?: boolean;
  /** What the request has left; without it a text has as much as a request. */
  readonly work?: RedactionWork;
}

/** The same string when there is nothing. When the request's work is spent, every word that could be personal becomes `⟦text⟧`. */
export function redactText(text: string, place: TextPlace, nameOf: (kind: PlaceholderKind, value: string) => string): string {
  const { lookalikes = true } = place;
  const rules = rulesFor(text, lookalikes);
  if (rules === 0) return text;
  const work = place.work ?? new RedactionWork();
  if (!work.take(text, rules)) return redactCoarsely(text);
  const findings = findPersonalData(text, place.regions, place.label, work, lookalikes);
  if (findings.length === 0) return text;
  let redacted = '';
  let from = 0;
  for (const { kind, start, end, value } of findings) {
    redacted += text.slice(from, start) + nameOf(kind, value);
    from = end;
  }
  return redacted + text.slice(from);
}

export type Rewrite = (text: string, label: string) => string;

interface Rewriting {
  readonly rewrite: Rewrite;
  readonly numbers: boolean;
}

function rewriteObject(value: object, rewriting: Rewriting, depth: number): object {
  // Made with the first change: most objects have none.
  let entries: (readonly [string, unknown])[] | undefined;
  let at = 0;
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    // Who keys a map by e-mail addresses writes them there.
    const renamed = rewriting.rewrite(name, '');
    const rewritten = rewriteAt(member, rewriting, name, depth);
    if (renamed !== name || rewritten !== member) entries ??= Object.entries(value).slice(0, at);
    entries?.push([renamed, rewritten]);
    at += 1;
  }
  return entries === undefined ? value : Object.fromEntries(entries);
}

function rewriteNumber(value: number, { rewrite, numbers }: Rewriting, label: string): unknown {
  if (!numbers || !Number.isSafeInteger(value)) return value;
  const written = String(value);
  const rewritten = rewrite(written, label);
  return rewritten === written ? value : rewritten;
}

function rewriteAt(value: unknown, rewriting: Rewriting, label: string, depth: number): unknown {
  if (typeof value === 'string') return rewriting.rewrite(value, label);
  if (typeof value === 'number') return rewriteNumber(value, rewriting, label);
  if (typeof value !== 'object' || value === null) return value;
  // Nothing of ours nests this deep; what cannot be looked through is not passed on.
  if (depth >= JSON_DEPTH_MAX) return null;
  return Array.isArray(value) ? rewriteItems(value, rewriting, label, depth + 1) : rewriteObject(value, rewriting, depth + 1);
}

/** Apart, because a function that makes others holds its variables in an object of each call, and most values are no lists. */
function rewriteItems(items: readonly unknown[], rewriting: Rewriting, label: string, depth: number): readonly unknown[] {
  const rewritten = items.map((item) => rewriteAt(item, rewriting, label, depth));
  return rewritten.some((item, index) => item !== items[index]) ? rewritten : items;
}

/** Names of fields too; with `numbers` whole numbers become text. Parts nested deeper than JSON_DEPTH_MAX become null. */
export function rewriteStrings<T>(value: T, rewrite: Rewrite, numbers = false): T {
  return rewriteAt(value, { rewrite, numbers }, '', 0) as T;
}
