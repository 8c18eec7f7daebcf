/** What each app of an organisation used in a month. Reads the daily sums. */

import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { daysOf } from './usage.ts';

const sumOn = (channel: Channel, column: string) => integer.from(`sum(iif(channel = '${channel}', ${column}, 0))`);

const appUsage = columns({
  appId: text,
  liveMicroUsd: sumOn('live', 'cost_microusd'),
  failedMicroUsd: sumOn('live', 'failed_microusd'),
  liveTurns: sumOn('live', 'turns'),
  liveConversations: sumOn('live', 'conversations'),
  sandboxTurns: sumOn('sandbox', 'turns'),
  sandboxConversations: sumOn('sandbox', 'conversations'),
});

export type AppUsage = RowOf<typeof appUsage>;

/** Usage of each app that had any in `month` (`2026-11`), deleted apps included. */
export function usageByApp(db: Connection, month: string): AppUsage[] {
  return appUsage.all(db, 'FROM usage_days WHERE day >= :from AND day < :to GROUP BY app_id ORDER BY app_id', daysOf(month));
}

const dayUsage = columns({
  /** `2026-11-21`, UTC. */
  day: text,
  appId: text,
  liveMicroUsd: sumOn('live', 'cost_microusd'),
  failedMicroUsd: sumOn('live', 'failed_microusd'),
  liveTurns: sumOn('live', 'turns'),
  sandboxTurns: sumOn('sandbox', 'turns'),
});

export type DayUsage = RowOf<typeof dayUsage>;

export function usageByDay(db: Connection, month: string): DayUsage[] {
  return dayUsage.all(db, 'FROM usage_days WHERE day >= :from AND day < :to GROUP BY day, app_id ORDER BY day, app_id', daysOf(month));
}
