/**
 * What people can read of a body that its schema does not let through: labels, texts, amounts and times, in the order of the schema and labels
 * before values. Keys, words of an enumeration, pictures and JSON are left out; so is what cannot be had (`available: false`).
 */
import type * as v from 'valibot';
import { isEmail, isPhone, isTime, isWebUrl } from './text-checks.ts';
import { isCell, isObject, jsonIn, type SchemaNode, unwrapped, useOf } from './text-uses.ts';
import { saidTime } from './values.ts';

/** Deeper than any component. */
const DEPTH_MAX = 8;
/** Fields and items that are looked at: a hostile body may have a million. */
const NODES_MAX = 1_000;
const HEADS: readonly string[] = ['title', 'label', 'name', 'prompt', 'text'];
/** Fields whose texts are words wherever they stand. */
const WORDS: ReadonlySet<string> = new Set(['title', 'label', 'prompt', 'text', 'value', 'md', 'detail', 'description', 'subtitle']);
/** A phone number has more. */
const SHORT_NUMBER_CHARS = 6;

type Fields = Readonly<Record<string, unknown>>;
/** Parts of one thing in a line, or things that stand one below the other. Null: left out on purpose. */
type Said = string | null;

/** What stands beside an item of a list. */
const ITEM: Fields = {};

const isPicture = (address: string) => /\.(?:png|jpe?g|gif|webp|svg|avif)(?:[?#]|$)/i.test(address);

/** The parts without those that say nothing. */
const filled = (parts: readonly Said[]) => parts.filter((part): part is string => part !== null && part !== '');

function isReach(text: string): boolean {
  return (
    (isWebUrl(text) && !isPicture(text)) ||
    isEmail(text) ||
    (text.length >= SHORT_NUMBER_CHARS && isPhone(text)) ||
    /^[\w-]+(?:\.[\w-]+)+(?:[/?#]|$)/.test(text)
  );
}

/** Whether a text whose meaning nobody told is meant for people: a sentence, a name, another script, an address; no `snake_case`, no `success`. */
function readsLikeWords(text: string): boolean {
  return isReach(text) || isTime(text) || /\s/.test(text.trim()) || /^\p{Lu}[^_]*$|[^\0-\u007f]/u.test(text);
}

class Reading {
  #left = NODES_MAX;

  /** What is said of `value`, which stands where the schema has `raw`. Without a schema only what reads like words. */
  of(raw: SchemaNode | undefined, value: unknown, key: string, siblings: Fields, depth: number): Said {
    if (--this.#left < 0 || depth > DEPTH_MAX) return '';
    const node = unwrapped(raw);
    if (typeof value === 'string') return this.#text(node, raw, value, key, siblings, depth);
    if (typeof value === 'number') return isMoney(node) || isCell(raw) || node?.type === 'string' ? String(value) : '';
    if (typeof value === 'boolean') return isCell(raw) ? (value ? 'yes' : 'no') : '';
    if (Array.isArray(value)) return this.#list(node, value, key, depth);
    return isObject(value) ? this.#object(node, value, depth) : '';
  }

  #text(node: SchemaNode | undefined, raw: SchemaNode | undefined, text: string, key: string, siblings: Fields, depth: number): Said {
    const inner = jsonIn(text);
    if (inner !== undefined && key !== 'code' && (isObject(inner) || Array.isArray(inner)))
      return this.of(raw, inner, key, siblings, depth);
    if (/^\s*(?:\{\s*"|\[\s*[{"])/.test(text) && key !== 'code') return '';
    if (node === undefined) return WORDS.has(key) || readsLikeWords(text) ? plain(text) : '';
    if (node.type === 'picklist' || node.type === 'boolean') return '';
    // A text in place of an object is what it is called, one in place of a list is its only item.
    if (node.entries !== undefined) return isNameOf(node.entries, text) && (siblings === ITEM || readsLikeWords(text)) ? plain(text) : '';
    if (node.item !== undefined) return !readsLikeWords(text) ? '' : this.of(node.item, text, key, {}, depth + 1);
    if (node.type !== 'string') return node.type === 'number' && /\s/.test(text.trim()) ? plain(text) : '';
    const use = useOf(node, siblings);
    if (use === 'key' || use === 'fetched') return '';
    if (isButton(siblings) && key === 'target') return siblings.kind === 'copy' || isReach(text) ? plain(text) : '';
    if (use !== 'words' && key === 'route') return '';
    return key === 'md' || key === 'code' ? text : plain(text);
  }

  #list(node: SchemaNode | undefined, values: readonly unknown[], key: string, depth: number): Said {
    const item = node?.item ?? (node?.entries === undefined ? undefined : node);
    const said = values.slice(0, NODES_MAX).map((value) => this.of(item, value, key, ITEM, depth + 1));
    if (said.length > 0 && said.every((part) => part === null)) return null;
    return depth === 1
      ? filled(said)
          .map((part) => `- ${part}`)
          .join('\n')
      : filled(said).join(', ');
  }

  #object(node: SchemaNode | undefined, fields: Fields, depth: number): Said {
    if (fields.available === false) return null;
    const entries = node?.entries;
    if (entries === undefined && node?.item !== undefined) return this.#mapped(node, fields, depth);
    if (node?.type === 'record') return '';
    if (isMoney(node)) return amount(fields);
    if (entries?.url !== undefined && useOf(unwrapped(entries.url), fields) === 'fetched') return '';
    const known = Object.keys(entries ?? {}).filter((name) => Object.hasOwn(fields, name));
    const strange = Object.keys(fields).filter((name) => entries === undefined || !Object.hasOwn(entries, name));
    const names = [...known.filter((name) => HEADS.includes(name)), ...known.filter((name) => !HEADS.includes(name)), ...strange];
    // A model's name may be one that every object has.
    const fieldOf = (name: string) => (entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined);
    const parts = names.map((name) => this.of(fieldOf(name), fields[name], name, fields, depth + 1));
    if (depth === 0) return filled(parts.map((part, at) => (names[at] === 'code' && part !== null ? fenced(part) : part))).join('\n\n');
    if (parts.some((part) => part === null)) return null;
    // A price of nothing that has a name.
    if (names.every((name, at) => parts[at] === '' || isMoney(unwrapped(fieldOf(name))))) return '';
    const hasHead = HEADS.includes(names[parts.findIndex((part) => part !== '')] ?? '');
    return marked(fields, entries, inLine(filled(parts), hasHead));
  }

  /** A list that was written as an object: one item, or items by name. */
  #mapped(node: SchemaNode, fields: Fields, depth: number): Said {
    const item = unwrapped(node.item);
    const isItem = Object.keys(fields).some((name) => item?.entries !== undefined && Object.hasOwn(item.entries, name));
    return this.#list(
      node,
      isItem ? [fields] : Object.values(fields).filter((value) => typeof value !== 'string' || readsLikeWords(value)),
      '',
      depth,
    );
  }
}

const isMoney = (node: SchemaNode | undefined) => node?.entries?.amount !== undefined && node.entries.currency !== undefined;
/** A picklist's options are its words. */
const wordsOf = (node: SchemaNode | undefined) => (unwrapped(node)?.options ?? []) as readonly unknown[];
/** Not one of the words that the fields of the object take. */
const isNameOf = (entries: NonNullable<SchemaNode['entries']>, text: string) =>
  !Object.values(entries).some((field) => wordsOf(field).includes(text));
const isButton = (fields: Fields) => typeof fields.kind === 'string' && typeof fields.target === 'string';
const plain = (text: string) => (isTime(text) ? saidTime(text) : text.replaceAll(/\s+/g, ' ').trim());

function amount({ amount: sum, currency }: Fields): string {
  if (typeof sum !== 'string' && typeof sum !== 'number') return '';
  return typeof currency === 'string' ? `${sum} ${currency}` : String(sum);
}

function fenced(code: string): string {
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code}\n${fence}`;
}

function inLine([first = '', ...rest]: readonly string[], hasHead: boolean): string {
  if (rest.length === 0) return first;
  return hasHead ? `${first}: ${rest.join(', ')}` : [first, ...rest].join(', ');
}

/** With what a number or a flag beside the words says of them. */
function marked(fields: Fields, entries: SchemaNode['entries'], words: string): string {
  if (words === '' || entries === undefined) return words;
  const { done, disabled, quantity } = fields;
  const isDone = entries.done === undefined || typeof done !== 'boolean' ? '' : done ? '☑ ' : '☐ ';
  const many = entries.quantity !== undefined && typeof quantity === 'number' ? `${quantity} × ` : '';
  return `${isDone}${many}${words}${entries.disabled !== undefined && disabled === true ? ' (not available)' : ''}`;
}

/** Markdown of what people can read of `written`, '' when that is nothing. Bounded in depth and in how much is looked at. */
export function readable(schema: v.GenericSchema | undefined, written: unknown): string {
  return new Reading().of(schema as unknown as SchemaNode | undefined, written, '', {}, 0) ?? '';
}
