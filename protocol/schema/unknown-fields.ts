/**
 * Fields of a body that its schema does not know, or leaves out. They are ignored, so that newer SDKs can add some (HTTP-3); with a test key their
 * sender is warned of them, because most often such a field is a typo.
 */
import * as v from 'valibot';
import { explain } from './issues.ts';

/** Fields named in one warning. */
const NAMED_MAX = 5;
/** Characters of a name that a warning repeats; longer than any known name. */
const NAME_MAX_CHARS = 40;
/** So many letters may be wrong in a name that is taken for a typo. */
const SLIPS_MAX = 2;

type Entries = Readonly<Record<string, v.GenericSchema>>;

const KNOWN = Symbol('known');
const DROPS = Symbol('drops');

/** The schema with more that is no typo: of an object fields that are read elsewhere, of a text all the names that mean something. */
export function knowing<Schema extends object>(schema: Schema, names: readonly string[]): Schema {
  return Object.assign(schema, { [KNOWN]: names });
}

/** The schema of a field that takes anything: what in it does not fit `strict` is left out, and its sender warned of that, too. */
export function dropping<Schema extends object>(schema: Schema, strict: v.GenericSchema): Schema {
  return Object.assign(schema, { [DROPS]: strict });
}

interface Described {
  readonly type?: string;
  readonly entries?: Entries;
  readonly item?: unknown;
  readonly value?: unknown;
  readonly pipe?: readonly unknown[];
  readonly wrapped?: unknown;
  readonly [KNOWN]?: readonly string[];
  readonly [DROPS]?: v.GenericSchema;
}

/** What `pick` finds in the schema, through pipes and what may be absent; undefined where it finds nothing. */
function within<Found>(schema: unknown, pick: (part: Described) => Found | undefined): Found | undefined {
  const { pipe = [], wrapped } = schema as Described;
  const found = pick(schema as Described);
  if (found !== undefined) return found;
  if (wrapped !== undefined) return within(wrapped, pick);
  for (const part of pipe) {
    const inner = part === schema ? undefined : within(part, pick);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The fields of the object that the schema describes; undefined for anything else. */
const entriesOf = (schema: unknown) =>
  within(schema, ({ type, entries }) => (type === 'object' || type === 'loose_object' ? entries : undefined));
const itemOf = (schema: unknown) => within(schema, ({ type, item }) => (type === 'array' ? item : undefined));
const memberOf = (schema: unknown) => within(schema, ({ type, value }) => (type === 'record' ? value : undefined));
const knownOf = (schema: unknown) => within(schema, (part) => part[KNOWN]);

/** How many letters have to be put in, taken out or changed to make one name of the other; two that changed places count twice. */
function slips(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

function meant(name: string, known: readonly string[]): string | undefined {
  if (name.length > NAME_MAX_CHARS) return undefined;
  const near = known.map((one) => ({ one, off: slips(name.toLowerCase(), one) })).filter(({ off }) => off <= SLIPS_MAX);
  return near.sort((a, b) => a.off - b.off)[0]?.one;
}

/** As a header may hold it. */
function printable(name: string): string {
  return name.slice(0, NAME_MAX_CHARS).replaceAll(/[^A-Za-z0-9_-]/g, '?');
}

/** `, did you mean text?`, or nothing. */
function hint(name: string, known: readonly string[], path = ''): string {
  const other = meant(name, known);
  return other === undefined ? '' : `, did you mean ${path}${other}?`;
}

function collectFields(schema: unknown, entries: Entries, value: object, path: string, found: string[]): void {
  const names = Object.keys(entries);
  const read = knownOf(schema) ?? [];
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= NAMED_MAX) return;
    if (Object.hasOwn(entries, name)) collect(entries[name], member, `${path}${name}`, found);
    else if (!read.includes(name)) found.push(`unknown field ${path}${printable(name)}${hint(name, names, path)}`);
  }
}

/** What is left out, a line each. Names in a path are the sender's. */
function collectDropped(strict: v.GenericSchema, value: unknown, path: string, found: string[]): void {
  for (const { path: within, message } of explain(v.safeParse(strict, value).issues ?? [])) {
    const line = `${path}${within === '' ? '' : `.${within.slice(0, NAME_MAX_CHARS)}`} ${message}: left out`;
    if (found.length < NAMED_MAX) found.push(line.replaceAll(/[^ -~]/g, '?'));
  }
}

function collect(schema: unknown, value: unknown, path: string, found: string[]): void {
  const strict = within(schema, (part) => part[DROPS]);
  if (strict !== undefined) {
    if (value !== null) collectDropped(strict, value, path, found);
    collect(strict, value, path, found);
    return;
  }
  if (typeof value === 'string') {
    const known = knownOf(schema);
    // `text@2` is a version of it.
    const name = value.split('@', 1)[0] ?? '';
    if (known !== undefined && !known.includes(name)) found.push(`unknown name ${printable(name)} in ${path}${hint(name, known)}`);
  }
  if (typeof value !== 'object' || value === null || found.length >= NAMED_MAX) return;
  if (Array.isArray(value)) {
    const item = itemOf(schema);
    if (item !== undefined)
      for (const [at, one] of value.entries()) if (found.length < NAMED_MAX) collect(item, one, `${path}[${at}]`, found);
    return;
  }
  const entries = entriesOf(schema);
  if (entries !== undefined) {
    collectFields(schema, entries, value, path === '' ? '' : `${path}.`, found);
    return;
  }
  const member = memberOf(schema);
  if (member === undefined) return;
  for (const [name, one] of Object.entries(value)) if (found.length < NAMED_MAX) collect(member, one, `${path}.${printable(name)}`, found);
}

/** One line of printable ASCII that names the unknown fields and names of a parsed body, and what of it is left out, five at most; undefined when it has none. */
export function unknownFields(schema: v.GenericSchema, body: unknown): string | undefined {
  const found: string[] = [];
  collect(schema, body, '', found);
  return found.length === 0 ? undefined : found.join('; ');
}
