/** The plans as a person chooses between them. */
import { PLAN_NAMES, PLANS, type PlanName } from '../../../protocol/plans.ts';
import type { SelectOption } from '../parts/fields.tsx';

export const PLAN_OPTIONS: readonly SelectOption<PlanName>[] = PLAN_NAMES.map((name) => {
  const { monthlyCreditUsd, users } = PLANS[name];
  return { value: name, label: `${name}: ${monthlyCreditUsd} USD a month, ${users.toLocaleString('en')} users` };
});
