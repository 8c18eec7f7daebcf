/**
 * What a model meant by a body that is nearly right (BLOCK-27). Owns the table of what is mended: forms of a value that can only mean one
 * thing. What would change what the body says is left as it is, and refused.
 */
import { clip } from '../schema/text.ts';
import type { BodySchema } from './component.ts';
import { isEmail, isPhone, isWebUrl } from './text-checks.ts';
import { beginsAsJson, isCell, isObject, jsonIn, type SchemaNode, unwrapped, useOf } from './text-uses.ts';
import { currency, decimal, time } from './values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Deeper than any component. */
const DEPTH_MAX = 10;
/** Texts of a body that begin as JSON and are none: each costs an exception. */
const BROKEN_JSON_MAX = 32;
/** Values of a body in all, twice what the largest valid one has, and items of a list: each that is wrong costs some ten microseconds, a cell thirty. */
export const VALUES_MAX = 3_000;
export const LIST_MAX_ITEMS = 128;
const ALT_MAX_CHARS = 200;
/** Fields that models put a whole body into. */
const WRAPPERS: readonly string[] = ['body', 'arguments', 'parameters', 'input', 'props'];
/** Fields in which models name the component. */
const NAMES: readonly string[] = ['type', 'component', 'block_type'];
/** What an item is called that is a text alone. */
const LABELS: readonly string[] = ['label', 'name', 'title', 'text'];
/** Other words for a word of a schema; the first that is allowed where it stands. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['website', ['url', 'open_url']],
  ['link', ['url', 'open_url']],
  ['url', ['open_url']],
  ['mail', ['email']],
  ['e_mail', ['email']],
  ['tel', ['phone', 'call']],
  ['telephone', ['phone', 'call']],
  ['phone', ['call']],
  ['message', ['send']],
]);
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?$/i;
const NEARLY_TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?(Z|z|[+-]\d\d):?(\d\d)?$/;

/** Says nothing: as good as left out. */
function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function wordOf(options: readonly unknown[], value: unknown): unknown {
  if (options.includes(value) || typeof value !== 'string') return value;
  if (options.includes(Number(value))) return Number(value);
  const word = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  if (options.includes(word)) return word;
  return SYNONYMS.get(word)?.find((other) => options.includes(other)) ?? value;
}

function timeOf(text: string): string {
  const [, date, clock, seconds = ':00', zone = '', minutes = '00'] = NEARLY_TIME.exec(text) ?? [];
  if (date === undefined) return text;
  return `${date}T${clock}${seconds}${/z/i.test(zone) ? 'Z' : `${zone}:${minutes}`}`;
}

function addressOf(node: SchemaNode, text: string, siblings: Fields): string {
  const kind = siblings.kind;
  const use = useOf(node, siblings);
  if (use === 'email') return text.replace(/^mailto:/i, '');
  if (use === 'phone') return text.replace(/^tel:/i, '');
  const isWeb = use === 'address' && (kind === undefined ? siblings.route === undefined : kind === 'open_url' || kind === 'url');
  return isWeb && HOST.test(text) && !isWebUrl(text) && !isEmail(text) && !isPhone(text) ? `https://${text}` : text;
}

class Mending {
  /** Ids of the whole body, so that a minted one is none of them. */
  readonly #ids = new Set<unknown>();
  #minted = 0;
  #broken = 0;

  constructor(body: unknown) {
    const collect = (value: unknown, depth: number) => {
      if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
      if (isObject(value)) this.#ids.add(typeof value.id === 'number' ? String(value.id) : value.id);
      for (const member of Object.values(value)) collect(member, depth + 1);
    };
    collect(body, 0);
  }

  #mint(): string {
    let id: string;
    do id = String(++this.#minted);
    while (this.#ids.has(id));
    return id;
  }

  of(raw: SchemaNode | undefined, value: unknown, siblings: Fields, depth: number): unknown {
    const node = unwrapped(raw);
    if (node === undefined || depth > DEPTH_MAX) return value;
    if (isCell(raw)) return cellOf(this, node, value, depth);
    if (node.type === 'picklist') return wordOf(node.options ?? [], value);
    if (node.type === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : value;
    if (node.type === 'number') return typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
    if (node.type === 'string') return textOf(node, value, siblings);
    if (node.item !== undefined) return this.#list(node, value, depth);
    return node.entries === undefined ? value : this.object(node.entries, this.structured(value, isObject), depth);
  }

  /** The list or object that a text holds as JSON. */
  structured(value: unknown, fits: (value: unknown) => boolean): unknown {
    const inner = this.#json(value);
    return fits(inner) ? inner : value;
  }

  #json(value: unknown): unknown {
    if (typeof value !== 'string' || this.#broken >= BROKEN_JSON_MAX) return undefined;
    const inner = jsonIn(value);
    if (inner === undefined && beginsAsJson(value)) this.#broken++;
    return inner;
  }

  #list(node: SchemaNode, given: unknown, depth: number): unknown {
    const value = this.structured(given, Array.isArray);
    const entries = unwrapped(node.item)?.entries;
    const isItem = entries !== undefined && isObject(value) && Object.keys(value).some((name) => Object.hasOwn(entries, name));
    const items = isItem ? [value] : value;
    if (!Array.isArray(items)) return value;
    return items.map((item: unknown) => {
      const mended = this.of(node.item, this.#labelled(entries, item), {}, depth + 1);
      if (entries?.id?.type === 'optional' || entries?.id === undefined || !isObject(mended)) return mended;
      return isEmpty(mended.id ?? null) ? { ...mended, id: this.#mint() } : mended;
    });
  }

  /** A text for an item that has a label and needs nothing else but an id. */
  #labelled(entries: SchemaNode['entries'], item: unknown): unknown {
    if (entries === undefined || typeof item !== 'string' || item.trim() === '') return item;
    const needed = Object.keys(entries).filter((name) => entries[name]?.type !== 'optional' && name !== 'id');
    const [only = ''] = needed;
    return needed.length === 1 && LABELS.includes(only) && this.#json(item) === undefined ? { [only]: item } : item;
  }

  object(entries: NonNullable<SchemaNode['entries']>, value: unknown, depth: number): unknown {
    if (!isObject(value)) return value;
    const siblings = entries.kind === undefined ? value : { ...value, kind: this.of(entries.kind, value.kind, value, depth + 1) };
    const isImage = entries.url !== undefined && useOf(unwrapped(entries.url), {}) === 'fetched';
    const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      const field = Object.hasOwn(entries, name) ? entries[name] : undefined;
      if (field === undefined) return isEmpty(member) ? [] : [[name, member]];
      if (field.type === 'optional' && (member === null || member === '')) return [];
      const mended = this.of(field, member, siblings, depth + 1);
      // How a thing looks; a word that there is not costs no round.
      const inner = unwrapped(field);
      if (field.type === 'optional' && inner?.type === 'picklist' && !(inner.options as readonly unknown[]).includes(mended)) return [];
      if (isImage && name === 'alt' && typeof mended === 'string') return [[name, clip(mended, ALT_MAX_CHARS)]];
      return [[name, mended]];
    });
    return Object.fromEntries(members);
  }
}

/** A cell of a table: a number is told as text, and nothing as an empty one. */
function cellOf(mending: Mending, node: SchemaNode, value: unknown, depth: number): unknown {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  return node.entries === undefined ? value : mending.object(node.entries, value, depth);
}

function textOf(node: SchemaNode, given: unknown, siblings: Fields): unknown {
  const value = typeof given === 'number' && Number.isFinite(given) ? String(given) : given;
  if (typeof value !== 'string') return value;
  if (node === (time as unknown)) return timeOf(value);
  if (node === (currency as unknown)) return /^[a-z]{3}$/.test(value) ? value.toUpperCase() : value;
  return node === (decimal as unknown) ? value : addressOf(node, value, siblings);
}

/** The body alone, where it was put into a field or names its component. */
function unpacked(entries: NonNullable<SchemaNode['entries']>, name: string, args: unknown): unknown {
  if (!isObject(args)) return args;
  const own = Object.entries(args).filter(([field, value]) => Object.hasOwn(entries, field) || !NAMES.includes(field) || value !== name);
  const [[wrapper, inner] = ['', undefined], ...others] = own;
  const isWrapped = others.length === 0 && !Object.hasOwn(entries, wrapper) && (wrapper === name || WRAPPERS.includes(wrapper));
  const body = isWrapped ? (typeof inner === 'string' ? jsonIn(inner) : inner) : undefined;
  return isObject(body) ? body : Object.fromEntries(own);
}

/** How many values a body holds, lists and objects among them; Infinity: more than any component takes, or a longer list. */
export function valuesIn(body: unknown): number {
  const found = [body];
  for (let seen = 0; seen < found.length; seen++) {
    const value = found[seen];
    if (found.length > VALUES_MAX || (Array.isArray(value) && value.length > LIST_MAX_ITEMS)) return Number.POSITIVE_INFINITY;
    if (typeof value === 'object' && value !== null) found.push(...Object.values(value).slice(0, VALUES_MAX));
  }
  return found.length;
}

/** `args` as they were meant; the same where nothing is to be mended. Whether they are valid the schema says. */
export function mended(name: string, schema: BodySchema, args: unknown): unknown {
  const { entries } = schema as unknown as SchemaNode;
  if (entries === undefined) return args;
  const body = unpacked(entries, name, args);
  return new Mending(body).object(entries, body, 0);
}
