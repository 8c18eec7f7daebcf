/** What each app of an organisation used in a month, for whoever looks at usage. Reads the daily sums. */

import { nextMonth } from '../billing/usage.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface AppUsage {
  readonly appId: string;
  readonly liveMicroUsd: number;
  /** Of live attempts that did not end well. */
  readonly failedMicroUsd: number;
  readonly liveTurns: number;
  readonly liveConversations: number;
  readonly sandboxTurns: number;
  readonly sandboxConversations: number;
}

/** Usage of each app that had any in `month` (`2026-11`), deleted apps included. */
export function usageByApp(db: Connection, month: string): AppUsage[] {
  return db
    .statement(
      `SELECT app_id,
         sum(iif(channel = 'live', cost_microusd, 0)) AS live_microusd,
         sum(iif(channel = 'live', failed_microusd, 0)) AS failed_microusd,
         sum(iif(channel = 'live', turns, 0)) AS live_turns,
         sum(iif(channel = 'live', conversations, 0)) AS live_conversations,
         sum(iif(channel = 'sandbox', turns, 0)) AS sandbox_turns,
         sum(iif(channel = 'sandbox', conversations, 0)) AS sandbox_conversations
       FROM usage_days WHERE day >= :from AND day < :to GROUP BY app_id ORDER BY app_id`,
    )
    .all({ from: `${month}-01`, to: `${nextMonth(month)}-01` })
    .map((row) => ({
      appId: row.app_id as string,
      liveMicroUsd: row.live_microusd as number,
      failedMicroUsd: row.failed_microusd as number,
      liveTurns: row.live_turns as number,
      liveConversations: row.live_conversations as number,
      sandboxTurns: row.sandbox_turns as number,
      sandboxConversations: row.sandbox_conversations as number,
    }));
}
