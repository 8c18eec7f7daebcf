/** What is wrong with one item of a batch, as its result tells it (service.md "POST /knowledge rules" 3, "POST /actions rules" 7). */
import type * as v from 'valibot';
import { explain } from '../issues.ts';

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
