/** The plans an organisation can be on (LIMIT-21, LIMIT-33): one table. */

export interface Plan {
  /** Usage credit that comes with every calendar month (UTC), shared by all apps of the organisation. */
  readonly monthlyCreditUsd: number;
  /** A soft limit: exceeding it shuts nothing off. */
  readonly users: number;
}

export const PLANS = {
  free: { monthlyCreditUsd: 5, users: 500 },
  growth: { monthlyCreditUsd: 50, users: 10_000 },
  scale: { monthlyCreditUsd: 500, users: 200_000 },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

export function isPlanName(name: string): name is PlanName {
  return Object.hasOwn(PLANS, name);
}
