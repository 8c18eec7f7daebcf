/**
 * What is told of an app at a glance (CONSOLE-31): each read ends after a few rows that an index finds, or reads counts that are kept, however
 * many conversations there are.
 */
import type { Channel } from '../organisations/organisations.ts';
import { columns, flag, integer, json, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const appHead = columns({
  id: text,
  name: text,
  live: flag,
  suspended: flag.from(`coalesce(settings ->> '$.suspended', 0)`),
  createdAtMs: integer,
  lastAtMs: orNull(integer).from('(SELECT max(updated_at_ms) FROM conversations c WHERE c.app_id = apps.id)'),
  platformHint: text,
  domains: integer.from(`coalesce(json_array_length(settings, '$.allowed_domains'), 0)`),
});

export type AppHead = RowOf<typeof appHead>;

/** The most recently used first, then the newest. */
export function readAppHeads(db: Connection): AppHead[] {
  // By its sixth column, the latest time.
  return appHead.all(db, 'FROM apps ORDER BY 6 DESC NULLS LAST, id DESC');
}

export function readAppHead(db: Connection, appId: string): AppHead | undefined {
  return appHead.get(db, 'FROM apps WHERE id = :appId', { appId });
}

const usageDay = columns({ day: text, turns: integer, costMicroUsd: integer.from('cost_microusd + failed_microusd') });

export type UsageDay = RowOf<typeof usageDay>;

/** The days from `fromDay` on in which anything happened, oldest first. */
export function readUsageDays(db: Connection, appId: string, channel: Channel, fromDay: string): UsageDay[] {
  const from = 'FROM usage_days WHERE app_id = :appId AND channel = :channel AND day >= :fromDay ORDER BY day';
  return usageDay.all(db, from, { appId, channel, fromDay });
}

const newestSession = columns({
  closedAtMs: orNull(integer),
  outcome: orNull(json<{ readonly human_todos?: unknown }>()),
});

/** Null: there was none. */
export function readNewestSetup(db: Connection, appId: string): { readonly isOpen: boolean; readonly todos: number } | null {
  const row = newestSession.get(db, 'FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC, id DESC LIMIT 1', { appId });
  if (row === undefined) return null;
  const todos = row.outcome?.human_todos;
  return { isOpen: row.closedAtMs === null, todos: Array.isArray(todos) ? todos.length : 0 };
}

/** Proposals that nobody has decided: bounded, and found by an index of these alone. */
export const UNDECIDED = 'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL';

const appEvent = columns({ atMs: integer, kind: text, detail: text });

export type AppEventRow = RowOf<typeof appEvent>;

/** The newest `limit` of each list, as one: a list is read by its index. */
const EVENTS = [
  `SELECT live_at_ms AS at_ms, 'live' AS kind, '' AS detail FROM apps WHERE id = :appId AND live_at_ms IS NOT NULL`,
  `SELECT published_at_ms, 'published', CAST(version AS TEXT) FROM publications WHERE app_id = :appId ORDER BY version DESC LIMIT :limit`,
  `SELECT opened_at_ms, 'session_opened', kind FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC LIMIT :limit`,
  `SELECT closed_at_ms, 'session_ended', state FROM
    (SELECT closed_at_ms, state FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC LIMIT :limit) WHERE closed_at_ms IS NOT NULL`,
  `SELECT created_at_ms, 'proposed', summary FROM proposals WHERE app_id = :appId ORDER BY id DESC LIMIT :limit`,
  `SELECT decided_at_ms, 'decided', state || ': ' || summary FROM
    (SELECT * FROM proposals WHERE app_id = :appId ORDER BY id DESC LIMIT :limit) WHERE state IN ('approved', 'rejected')`,
  `SELECT created_at_ms, iif(passed, 'smoke_passed', 'smoke_failed'), '' FROM smoke_runs WHERE app_id = :appId ORDER BY created_at_ms DESC LIMIT :limit`,
];

export function readAppEvents(db: Connection, appId: string, limit: number): AppEventRow[] {
  const from = `FROM (${EVENTS.map((select) => `SELECT * FROM (${select})`).join(' UNION ALL ')}) ORDER BY at_ms DESC LIMIT :limit`;
  return appEvent.all(db, from, { appId, limit });
}
