/** What failed of the newest instances of an app, grouped. Pure. */
import type { NewestTrace } from '../../../protocol/console/answers.ts';

export interface FailureGroup {
  readonly machine: string;
  readonly state: string;
  readonly members: readonly NewestTrace[];
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'unknown', 'expired', 'interrupted']);

export function failureGroups(newest: readonly NewestTrace[]): readonly FailureGroup[] {
  const groups = new Map<string, NewestTrace[]>();
  for (const each of [...newest].sort((one, other) => other.at_ms - one.at_ms)) {
    if (each.state === null || !FAILED.has(each.state)) continue;
    const key = `${each.machine} ${each.state}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    return first?.state == null ? [] : [{ machine: first.machine, state: first.state, members }];
  });
}
