/** Damages JSON documents: one small change at one place, of the kinds that a caller gets wrong. Whether it is still valid is the question. */
import fc from 'fast-check';

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))];
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

function replaced(value: unknown, path: Path, change: (inner: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, rest, change) : item));
  const object = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, name === key ? replaced(item, rest, change) : item]));
}

function without(value: unknown, path: Path): unknown {
  const last = path.at(-1);
  return replaced(value, path.slice(0, -1), (parent) =>
    Array.isArray(parent)
      ? parent.filter((_, index) => index !== last)
      : Object.fromEntries(Object.entries(parent as object).filter(([key]) => key !== last)),
  );
}

/** Lengths at and just beyond every bound of the specification's tables. */
const BOUNDS = [1, 24, 35, 40, 60, 64, 80, 120, 160, 200, 300, 500, 1_000, 2_000, 2_048, 4_000, 10_000, 20_000, 200_000];
const ITEMS = [4, 8, 10, 12, 20, 25, 40, 50, 500];
const WORDS = [
  'bogus',
  'none',
  'user',
  'read',
  'write',
  'GET',
  'POST',
  'DELETE',
  'array',
  'number',
  'archive',
  'bearer',
  'header',
  'query',
];
const FORMS = [
  'Not Snake',
  '#12345',
  'http://',
  'ftp://example.com',
  'https://u:p@example.com/',
  'header:',
  'Always.',
  'a..b',
  '{x',
  '2001',
  'en_US',
];
const VALUES = [null, true, 7, -1, 0.5, 1e9, 'text', [], {}, ['text'], { a: 1 }];

const strings = fc.oneof(
  fc.constantFrom('', ' ', '\n\t', '\u00a0\u2003'),
  fc.constantFrom(...WORDS),
  fc.constantFrom(...FORMS),
  fc
    .tuple(fc.constantFrom('x', '😀'), fc.constantFrom(...BOUNDS), fc.constantFrom(0, 1))
    .map(([unit, bound, over]) => unit.repeat(bound + over)),
);

const NEW_FIELDS = [
  'extra',
  'toString',
  'constructor',
  'name',
  'kind',
  'op',
  'auth_name',
  'body_template',
  'items',
  'reason',
  'confirm_template',
  'needs_key',
  'events',
];
const newFields = fc.tuple(fc.constantFrom(...NEW_FIELDS), fc.oneof(fc.constantFrom(...VALUES), strings));

function lengthened(items: readonly unknown[], max: number): unknown[] {
  return items.length === 0 ? [] : Array.from({ length: max }, (_, index) => items[index % items.length]);
}

function damage(document: unknown, path: Path): fc.Arbitrary<unknown> {
  const value = at(document, path);
  const choices: fc.Arbitrary<unknown>[] = [fc.constantFrom(...VALUES).map((other) => replaced(document, path, () => other))];
  if (path.length > 0) choices.push(fc.constant(without(document, path)));
  if (typeof value === 'string') choices.push(strings.map((other) => replaced(document, path, () => other)));
  if (typeof value === 'number') {
    choices.push(fc.constantFrom(-1, 0, 0.75, 1.5, 32.1, 51, 999, 30_001, 1e7).map((other) => replaced(document, path, () => other)));
  }
  if (Array.isArray(value)) {
    choices.push(
      fc
        .tuple(fc.constantFrom(...ITEMS), fc.constantFrom(0, 1))
        .map(([bound, over]) => replaced(document, path, () => lengthened(value, bound + over))),
      fc.constant(replaced(document, path, () => [])),
    );
  } else if (typeof value === 'object' && value !== null) {
    choices.push(newFields.map(([name, other]) => replaced(document, path, (object) => ({ ...(object as object), [name]: other }))));
  }
  return fc.oneof(...choices);
}

/** `document` with one to two changes. */
export function mutated(document: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const once = (arbitrary: fc.Arbitrary<unknown>) =>
    arbitrary.chain((value) => fc.constantFrom(...pathsOf(value)).chain((path) => damage(value, path)));
  return fc.oneof({ weight: 3, arbitrary: once(document) }, { weight: 1, arbitrary: once(once(document)) });
}
