/** What all organisations together spent on a day: compared with the platform-wide ceiling. */

import { columns, integer } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { utcDay } from './usage-ledger.ts';

const daySpend = columns({ microUsd: integer.from('coalesce(sum(cost_microusd + failed_microusd), 0)') });

/** Model spend of one organisation's file on the UTC day of `nowMs`, live and sandbox, failed attempts too, in millionths of a dollar. */
export function spentOn(db: Connection, nowMs: number): number {
  return daySpend.get(db, 'FROM usage_days WHERE day = :day', { day: utcDay(nowMs) })?.microUsd ?? 0;
}
