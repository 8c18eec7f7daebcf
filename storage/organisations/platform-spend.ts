/** What all organisations together spent on a day: the sum that the platform-wide ceiling is held against. */

import { utcDay } from '../billing/usage-ledger.ts';
import type { Connection } from '../sqlite/connection.ts';

/** Model spend of one organisation's file on the UTC day of `nowMs`, live and sandbox, failed attempts too, in millionths of a dollar. */
export function spentOn(db: Connection, nowMs: number): number {
  const row = db
    .statement('SELECT coalesce(sum(cost_microusd + failed_microusd), 0) AS spent FROM usage_days WHERE day = :day')
    .get({ day: utcDay(nowMs) });
  return row?.spent as number;
}
