/** Values made from a JSON Schema (draft 2020-12, what the service publishes of it): ones that fit, and ones that nearly do. */
import fc from 'fast-check';
import type { Dice } from '../support/seeded.ts';
import { hostileName, hostileNumber, hostileText, hostileValue, objectOf } from './hostile.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Deeper, only what is required is made. */
const DEPTH_MAX = 6;
const SAMPLES = 12;
const TEXT_MAX_CHARS = 400;
const UNSAID_MAX = 4;

const samples = new Map<string, readonly string[]>();

/** Texts that fit a pattern; none when fast-check cannot read it. */
function fitting(pattern: string): readonly string[] {
  let made = samples.get(pattern);
  if (made === undefined) {
    try {
      made = fc.sample(fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' }), SAMPLES);
    } catch {
      made = [];
    }
    samples.set(pattern, made);
  }
  return made;
}

/** Addresses lead nowhere: nothing outside of this machine is ever asked. */
const FORMATS: Readonly<Record<string, (dice: Dice) => string>> = {
  uuid: (dice) => 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => dice.below(16).toString(16)),
  uri: (dice) => dice.pick(['https://shop.invalid/a', 'https://shop.invalid/a?b=⟦email_1⟧', 'http://127.0.0.1:9/', 'https://[::1]/', 'x:']),
  email: () => 'anna@example.invalid',
  'date-time': (dice) => dice.pick(['2026-11-22T08:00:00Z', '2026-02-30T25:61:61Z', '+275760-09-13T00:00:00.001Z']),
  date: (dice) => dice.pick(['2026-11-22', '0000-00-00', '2026-02-29']),
};

export interface Making {
  readonly dice: Dice;
  /** One value in so many is something else than the schema says; Infinity: none. */
  readonly oddOneIn: number;
  /** Values to use where the name of a field says so, e.g. ids that exist. */
  readonly known: ReadonlyMap<string, readonly unknown[]>;
}

function list(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : [];
}

function textFor(schema: Schema, { dice }: Making): string {
  const { format, pattern, minLength = 0, maxLength = TEXT_MAX_CHARS } = schema as Record<string, never>;
  const made = FORMATS[String(format)]?.(dice);
  if (made !== undefined) return made;
  const texts = typeof pattern === 'string' ? fitting(pattern) : [];
  if (texts.length > 0) return dice.pick(texts);
  if (typeof pattern === 'string' && /https?/.test(pattern)) return FORMATS.uri?.(dice) ?? '';
  return hostileText(dice, Math.min(maxLength, TEXT_MAX_CHARS)).padEnd(minLength, 'a');
}

function numberFor(schema: Schema, { dice }: Making): number {
  const { minimum = -1_000, maximum = 1_000_000, type } = schema as { minimum?: number; maximum?: number; type?: string };
  const whole = dice.between(Math.ceil(minimum), Math.floor(Math.min(maximum, minimum + 2 ** 30)));
  return type === 'integer' || dice.below(2) === 0 ? whole : whole + 0.5;
}

function fieldsFor(schema: Schema, making: Making, depth: number): Record<string, unknown> {
  const { dice, oddOneIn } = making;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = new Set((schema.required ?? []) as string[]);
  const odd = () => oddOneIn < Infinity && dice.below(oddOneIn) === 0;
  const fields: (readonly [string, unknown])[] = [];
  for (const [name, member] of properties) {
    const isWanted = required.has(name) ? !odd() : depth < DEPTH_MAX && dice.below(2) === 0;
    if (!isWanted) continue;
    const known = making.known.get(name);
    const value = known !== undefined && dice.below(4) > 0 ? dice.pick(known) : valueFor(member, making, depth + 1);
    fields.push([odd() ? hostileName(dice, 300) : name, value]);
  }
  const more = schema.additionalProperties;
  if (typeof more === 'object' && more !== null) {
    const names = (schema.propertyNames ?? {}) as Schema;
    for (let left = dice.below(UNSAID_MAX); left > 0; left--) {
      const name = dice.below(2) === 0 ? textFor(names, making) : hostileName(dice, 64);
      fields.push([name, valueFor(more as Schema, making, depth + 1)]);
    }
  }
  if (odd()) fields.push([hostileName(dice, 9_000), hostileValue(dice, TEXT_MAX_CHARS)]);
  return objectOf(fields);
}

interface Lengths {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** How long a list may be, said outright or, as GET /v1/schemas does, as how long it must not be. */
function lengthsOf(schema: Schema): Required<Lengths> {
  const { not, minItems, maxItems } = schema as Lengths & { not?: Lengths & { anyOf?: readonly Lengths[] } };
  const never = not === undefined ? [] : (not.anyOf ?? [not]);
  const tooShort = never.find((each) => each.maxItems !== undefined)?.maxItems ?? -1;
  const tooLong = never.find((each) => each.minItems !== undefined)?.minItems ?? 9;
  return { minItems: minItems ?? tooShort + 1, maxItems: maxItems ?? tooLong - 1 };
}

function itemsFor(schema: Schema, making: Making, depth: number): unknown[] {
  const { minItems, maxItems } = lengthsOf(schema);
  const most = making.dice.below(60) === 0 ? Math.min(maxItems + 1, 300) : Math.min(maxItems, minItems + 3);
  const length = making.dice.between(minItems, Math.max(minItems, most));
  const first = list(schema.prefixItems);
  return Array.from({ length }, (_, at) => valueFor(first[at] ?? ((schema.items ?? {}) as Schema), making, depth + 1));
}

/** Everything that `allOf` adds to the schema itself; conditions are left to chance. */
function merged(schema: Schema): Schema {
  const parts = list(schema.allOf).filter((part) => !('if' in part));
  if (parts.length === 0) return schema;
  const { allOf: _, ...own } = schema;
  return Object.assign({}, ...parts, own) as Schema;
}

/** A value for the schema, of which one part in `oddOneIn` is something else. */
export function valueFor(given: Schema, making: Making, depth = 0): unknown {
  const { dice, oddOneIn } = making;
  if (oddOneIn < Infinity && depth > 0 && dice.below(oddOneIn * 2) === 0) return hostileValue(dice, 9_000);
  const schema = merged(given);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return dice.pick(schema.enum);
  const choices = [...list(schema.anyOf), ...(schema.properties === undefined ? list(schema.oneOf) : [])];
  if (choices.length > 0) return valueFor(dice.pick(choices), making, depth);
  const type = Array.isArray(schema.type) ? dice.pick(schema.type as string[]) : schema.type;
  switch (type) {
    case 'object':
      return chosen(schema, fieldsFor(schema, making, depth), making, depth);
    case 'array':
      return itemsFor(schema, making, depth);
    case 'string':
      return textFor(schema, making);
    case 'number':
    case 'integer':
      return numberFor({ ...schema, type }, making);
    case 'boolean':
      return dice.below(2) === 0;
    case 'null':
      return null;
    default:
      return dice.below(3) === 0 ? hostileNumber(dice) : hostileValue(dice, TEXT_MAX_CHARS, 2);
  }
}

/** Of alternatives that are told by what they require, one is kept. */
function chosen(schema: Schema, made: Record<string, unknown>, making: Making, depth: number): Record<string, unknown> {
  const ways = list(schema.oneOf).map((way) => (way.required ?? []) as string[]);
  if (ways.length === 0 || making.dice.below(30) === 0) return made;
  const kept = making.dice.pick(ways);
  const others = new Set(ways.flat().filter((name) => !kept.includes(name)));
  const entries = Object.entries(made).filter(([name]) => !others.has(name));
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  for (const name of kept) {
    if (Object.hasOwn(made, name) || !Object.hasOwn(properties, name)) continue;
    entries.push([name, valueFor(properties[name] as Schema, making, depth + 1)]);
  }
  return objectOf(entries);
}
