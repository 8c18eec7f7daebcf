/** The objects that the bodies of the runtime interface are made of: open ones, because newer SDKs add fields (HTTP-3). */
import * as v from 'valibot';
import { isObject } from '../schema/bounded.ts';
import { type Keywords, stated } from '../schema/stated.ts';

type Open<Entries extends v.ObjectEntries> = v.ObjectSchema<Entries, undefined>;
type Loose<Entries extends v.ObjectEntries> = v.LooseObjectSchema<Entries, undefined>;

const MESSAGE = 'must be an object';

interface Optional {
  readonly type: 'optional';
  readonly wrapped: v.GenericSchema;
  readonly default: unknown;
}

/** Whether the field may be left out and has no meaning of its own for null: then null says the same as leaving it out. */
function isAbsentAsNull(entry: unknown): entry is Optional {
  return (entry as Optional).type === 'optional' && (entry as Optional).wrapped.type !== 'nullable';
}

function withNulls<const Entries extends v.ObjectEntries>(entries: Entries): Entries {
  const taking = Object.entries(entries).map(([name, entry]) => {
    if (!isAbsentAsNull(entry) || entry.wrapped.type === 'unknown') return [name, entry];
    return [name, v.optional(v.nullable(entry.wrapped), entry.default as undefined)];
  });
  return Object.fromEntries(taking) as Entries;
}

/** Leaves out what is null and might be absent, or puts its default there. */
function withoutNulls<Value extends object>(entries: v.ObjectEntries) {
  const optional = Object.entries(entries).filter(([, entry]) => isAbsentAsNull(entry));
  const drop = v.transform((value: Value): Value => {
    const given = value as Readonly<Record<string, unknown>>;
    const nulls = optional.filter(([name]) => given[name] === null);
    if (nulls.length === 0) return value;
    const rest: Record<string, unknown> = { ...given };
    for (const [name, entry] of nulls) {
      const { default: fallback } = entry as unknown as Optional;
      if (fallback === undefined) delete rest[name];
      else rest[name] = fallback;
    }
    return rest as Value;
  });
  return stated(drop, {});
}

/** Keywords of a condition: the field is there, and not as null. */
export function present(name: string): Keywords {
  return { required: [name], properties: { [name]: { not: { type: 'null' } } } };
}

/**
 * An object with these fields; others are left out, and null in an optional field is absence. Unlike valibot's own, it does not take
 * `[]` for an object.
 */
export function openObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(
    v.custom<v.InferInput<Open<Entries>>>(isObject, MESSAGE),
    v.object(withNulls(entries)),
    withoutNulls<v.InferOutput<Open<Entries>>>(entries),
  ) as unknown as v.GenericSchema<v.InferInput<Open<Entries>>, v.InferOutput<Open<Entries>>>;
}

/** As `openObject`, but all that the caller sent is kept, nulls in optional fields too: whoever reads them takes them for absent. */
export function keepingObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(v.custom<v.InferInput<Loose<Entries>>>(isObject, MESSAGE), v.looseObject(withNulls(entries))) as unknown as v.GenericSchema<
    v.InferInput<Loose<Entries>>,
    v.InferOutput<Loose<Entries>>
  >;
}
