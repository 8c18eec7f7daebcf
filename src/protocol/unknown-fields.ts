/**
 * Fields of a body that its schema does not know. They are ignored, so that newer SDKs can add some (decisions §4); with a test key their
 * sender is warned of them, because most often such a field is a typo.
 */
import type * as v from 'valibot';

/** Named in one warning; whoever sends more has seen enough to go by. */
const NAMED_MAX = 5;
/** Of a name that is told back: longer than any of ours. */
const NAME_MAX_CHARS = 40;
/** So many letters may be wrong in a name that is taken for a typo. */
const SLIPS_MAX = 2;

type Entries = Readonly<Record<string, v.GenericSchema>>;

/** The fields of the object that the schema describes, through pipes and what may be absent; undefined for anything else. */
function entriesOf(schema: unknown): Entries | undefined {
  const { type, entries, pipe, wrapped } = schema as { type?: string; entries?: Entries; pipe?: readonly unknown[]; wrapped?: unknown };
  if (type === 'object' && entries !== undefined) return entries;
  if (wrapped !== undefined) return entriesOf(wrapped);
  for (const part of pipe ?? []) {
    const found = part === schema ? undefined : entriesOf(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

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

/** The field that is meant, if one is near enough. */
function meant(name: string, known: readonly string[]): string | undefined {
  if (name.length > NAME_MAX_CHARS) return undefined;
  const near = known.map((one) => ({ one, off: slips(name.toLowerCase(), one) })).filter(({ off }) => off <= SLIPS_MAX);
  return near.sort((a, b) => a.off - b.off)[0]?.one;
}

/** As a header may hold it. */
function printable(name: string): string {
  return name.slice(0, NAME_MAX_CHARS).replaceAll(/[^A-Za-z0-9_-]/g, '?');
}

function collect(schema: unknown, value: unknown, path: string, found: string[]): void {
  const entries = entriesOf(schema);
  if (entries === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const names = Object.keys(entries);
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= NAMED_MAX) return;
    if (Object.hasOwn(entries, name)) {
      collect(entries[name], member, `${path}${name}.`, found);
      continue;
    }
    const other = meant(name, names);
    found.push(`unknown field ${path}${printable(name)}${other === undefined ? '' : `, did you mean ${path}${other}?`}`);
  }
}

/** One line of printable ASCII that names the unknown fields of a parsed body, five at most; undefined when it has none. */
export function unknownFields(schema: v.GenericSchema, body: unknown): string | undefined {
  const found: string[] = [];
  collect(schema, body, '', found);
  return found.length === 0 ? undefined : found.join('; ');
}
