/** What is wrong with one item of a batch, as its result tells it (SETUP-29, SETUP-30). */
import * as v from 'valibot';
import { isObject } from '../schema/bounded.ts';
import { explain } from '../schema/issues.ts';
import { refusalOf } from '../schema/parse.ts';

/** Enough to mend an item in one or two rounds, and still one sentence. */
const FAULTS_NAMED_MAX = 3;

/** One sentence: the first three fields that are wrong, each once with its first fault, and how many more there are. */
export function itemFault(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = new Map<string, string>();
  for (const { path, message } of explain(issues)) {
    if (!faults.has(path)) faults.set(path, `${path === '' ? 'the item' : path} ${message}`);
  }
  if (faults.size === 0) return 'The item is malformed.';
  const more = faults.size - FAULTS_NAMED_MAX;
  return `${[...faults.values()].slice(0, FAULTS_NAMED_MAX).join('; ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

/** An item that is no item, or has a field of another type: it is refused alone, by its result. */
export interface MalformedItem {
  /** '' where it has none. */
  readonly external_key: string;
  readonly malformed: string;
  readonly op?: undefined;
  readonly kind?: undefined;
  readonly name?: undefined;
}

function malformed(item: unknown, issues: readonly v.BaseIssue<unknown>[]): MalformedItem {
  const key = isObject(item) ? item.external_key : undefined;
  const within = issues.map((issue) => ({ ...issue, path: issue.path?.slice(2) }) as unknown as v.BaseIssue<unknown>);
  return { external_key: typeof key === 'string' ? key : '', malformed: itemFault(within) };
}

/** Whether the issue is about the body as a whole: its list, or a field that nobody knows (SETUP-29). */
function isAboutBody({ path, type, expected }: v.BaseIssue<unknown>): boolean {
  return path === undefined || path.length < 2 || (type === 'strict_object' && expected === 'never');
}

/**
 * The items of a body, each as it is or as what is wrong with it. `schema` gives the fields of items and their types.
 * @throws Refusal 400 invalid_body for a body that is none, too long a list, or an unknown field.
 */
export function acceptItems<Item>(schema: v.GenericSchema<unknown, { items: Item[] }>, body: unknown): readonly (Item | MalformedItem)[] {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output.items;
  const whole = result.issues.filter(isAboutBody);
  if (whole.length > 0) throw refusalOf(whole, 'invalid_body');
  const byItem = new Map<unknown, v.BaseIssue<unknown>[]>();
  for (const issue of result.issues) {
    const at = issue.path?.[1]?.key;
    byItem.set(at, [...(byItem.get(at) ?? []), issue]);
  }
  return (body as { items: Item[] }).items.map((item, at) => {
    const issues = byItem.get(at);
    return issues === undefined ? item : malformed(item, issues);
  });
}
