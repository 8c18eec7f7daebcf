/**
 * What a client makes of a text of a body: words that are shown, an address that is opened, fetched or dialled, or a key. The schema of the
 * text says so, or what stands beside it in the body does (a button's `kind`).
 */
import type * as v from 'valibot';

/**
 * `address`: a web address or a screen's, opened when a person asks for it. `fetched`: a web address that a client fetches by itself, such as a
 * picture's (BLOCK-24). `email`, `phone`: nothing but one of these, for a person to use. `key`: nobody reads it, such as an id.
 */
export type TextUse = 'words' | 'address' | 'fetched' | 'email' | 'phone' | 'key';

type Siblings = Readonly<Record<string, unknown>>;
type UseRule = TextUse | ((siblings: Siblings) => TextUse);

const USE = Symbol('use');

/** `schema`, of a text that is used as `use` says. */
export function usedAs<const S extends v.GenericSchema>(schema: S, use: UseRule): S {
  return Object.assign(schema, { [USE]: use });
}

/** The parts of a schema of valibot's that lead to what it is made of. */
export interface SchemaNode {
  readonly type?: string;
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly wrapped?: SchemaNode;
  readonly value?: SchemaNode;
  readonly options?: readonly SchemaNode[];
  readonly [USE]?: UseRule;
}

export function isObject(value: unknown): value is Siblings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A cell of a table: where `true` and `false` are told. */
export function isCell(node: SchemaNode | undefined): boolean {
  return node?.type === 'union' && node.options?.some(({ type }) => type === 'boolean') === true;
}

export const beginsAsJson = (text: string) => /^\s*[[{]/.test(text);

/** The object or list that a text holds as JSON; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return beginsAsJson(text) ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

/** Without what only says that it may be left out, and of several shapes the one with fields or items. */
export function unwrapped(node: SchemaNode | undefined): SchemaNode | undefined {
  if (node?.wrapped !== undefined) return unwrapped(node.wrapped);
  return node?.options?.map(unwrapped).find((option) => option?.entries !== undefined || option?.item !== undefined) ?? node;
}

/** Rewrites a text by its use. Undefined for a `fetched` one that is left out, with all of what it is a required part of. */
export type RewriteUsed = (text: string, use: TextUse) => string | undefined;

export function useOf(schema: SchemaNode | undefined, siblings: Siblings): TextUse {
  const use = schema?.[USE] ?? 'words';
  return typeof use === 'function' ? use(siblings) : use;
}

/** Whether anything in a body of this schema is fetched by itself. */
export function fetches(schema: v.GenericSchema): boolean {
  const at = (node: SchemaNode | undefined): boolean => {
    const inner = unwrapped(node);
    if (inner === undefined) return false;
    return inner[USE] === 'fetched' || [...Object.values(inner.entries ?? {}), inner.item, inner.value].some(at);
  };
  return at(schema as unknown as SchemaNode);
}

function rewriteAt(node: SchemaNode | undefined, value: unknown, siblings: Siblings, rewrite: RewriteUsed): unknown {
  const schema = unwrapped(node);
  if (typeof value === 'string') return rewrite(value, useOf(schema, siblings));
  if (Array.isArray(value)) return value.map((item: unknown) => rewriteAt(schema?.item, item, {}, rewrite));
  if (!isObject(value)) return value;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const field = schema?.entries?.[name];
    const rewritten = rewriteAt(field ?? schema?.value, member, value, rewrite);
    // What may not be left out takes along what it is part of.
    if (rewritten === undefined && field?.type !== 'optional') return undefined;
    // A name that the schema has is the schema's own.
    if (rewritten !== undefined) members.push([field === undefined ? (rewrite(name, 'words') ?? name) : name, rewritten]);
  }
  return Object.fromEntries(members);
}

/** `body`, which `schema` has let through, with every text rewritten; names that the schema leaves open are words. */
export function rewriteTexts<T extends Siblings>(schema: v.GenericSchema, body: T, rewrite: RewriteUsed): T {
  return rewriteAt(schema as unknown as SchemaNode, body, {}, rewrite) as T;
}
