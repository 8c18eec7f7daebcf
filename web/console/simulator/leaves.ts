/** Plain values inside a JSON value with the way to each, and how two values differ in them. */

interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const inside = Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
  return inside.length === 0 && path !== '' ? [{ path, value }] : inside;
}

export function differencesOf(before: unknown, after: unknown): Difference[] {
  const [old, now] = [before, after].map((value) => new Map(leavesOf(value).map((leaf) => [leaf.path, leaf.value]))) as [
    Map<string, unknown>,
    Map<string, unknown>,
  ];
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  return paths
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

export function valueWords(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An event's payload on one line, `serverCalls 1, waiting.reads 0`; '' when it has none. */
export function payloadWords(event: { readonly type: string }): string {
  const { type: _, ...payload } = event;
  return leavesOf(payload)
    .map(({ path, value }) => `${path} ${valueWords(value)}`)
    .join(', ');
}
