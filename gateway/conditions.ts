/** What is wrong with this node, as operators and strangers are told it (RUN-10). */
import { timestamp } from '../protocol/timestamp.ts';
import type { Condition, ConditionName } from '../storage/health/conditions.ts';

const SUBJECTS_SHOWN = 100;

export interface ShownCondition {
  readonly condition: ConditionName;
  readonly since: string;
  /** Number of organisations or cells that it holds for; absent for a condition of the node itself. */
  readonly count?: number;
  readonly about?: readonly { readonly id: string; readonly since: string; readonly detail: string }[];
  readonly detail?: string;
}

/** Strangers get counts and no names, so that they cannot learn who is a customer. `isOperator`: names, files and what to do. */
export function shownConditions(conditions: readonly Condition[], isOperator: boolean): ShownCondition[] {
  const names = [...new Set(conditions.map(({ name }) => name))];
  return names.map((name) => {
    const held = conditions.filter((condition) => condition.name === name);
    const since = timestamp(Math.min(...held.map(({ sinceMs }) => sinceMs)));
    const [first] = held;
    if (first === undefined || first.subject === '') {
      return { condition: name, since, ...(isOperator && first !== undefined && { detail: first.detail }) };
    }
    const about = held.slice(0, SUBJECTS_SHOWN).map(({ subject, sinceMs, detail }) => ({ id: subject, since: timestamp(sinceMs), detail }));
    return { condition: name, since, count: held.length, ...(isOperator && { about }) };
  });
}
