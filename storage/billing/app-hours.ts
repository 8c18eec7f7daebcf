/**
 * How each app went by the hour (CONSOLE-31): what is looked at and never charged. A process counts in memory and adds it here now and then,
 * so a crash loses some seconds of it; what is charged stands in usage-ledger.ts.
 */
import type { Channel } from '../organisations/organisations.ts';
import { columns, insert, integer, json, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export const HOUR_MS = 3_600_000;
/** A month to look back on. */
const KEPT_HOURS = 31 * 24;

/** Upper bounds of the times to the first word that are told apart, in ms; one more bucket is for those above. */
const FIRST_WORD_BOUNDS_MS = [50, 100, 150, 200, 300, 400, 550, 750, 1_000, 1_400, 2_000, 2_800, 4_000, 5_600, 8_000, 16_000];

/** Numbers of turns by the time to their first word. */
export type FirstWords = readonly number[];

export function countFirstWord(counts: number[], ms: number): void {
  const at = FIRST_WORD_BOUNDS_MS.findIndex((bound) => ms <= bound);
  const bucket = at === -1 ? FIRST_WORD_BOUNDS_MS.length : at;
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}

export function addedFirstWords(one: FirstWords, other: FirstWords): number[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, at) => (one[at] ?? 0) + (other[at] ?? 0));
}

/** The median, within its bucket as if times lay evenly in it, in ms; null: there are none. */
export function medianFirstWord(counts: FirstWords): number | null {
  const half = counts.reduce((sum, count) => sum + count, 0) / 2;
  if (half === 0) return null;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && below + count >= half) {
      const from = FIRST_WORD_BOUNDS_MS[at - 1] ?? 0;
      const to = FIRST_WORD_BOUNDS_MS[at] ?? from;
      return Math.round(from + ((to - from) * (half - below)) / count);
    }
    below += count;
  }
  return null;
}

const appHour = columns({ hour: integer, ended: integer, failed: integer, people: integer, firstWords: json<FirstWords>() });

export type AppHour = RowOf<typeof appHour>;

/** The hours (since 1970, UTC) from `fromHour` on in which anything happened, oldest first. */
export function readAppHours(db: Connection, appId: string, channel: Channel, fromHour: number): AppHour[] {
  const from = 'FROM app_hours WHERE app_id = :appId AND channel = :channel AND hour >= :fromHour ORDER BY hour';
  return appHour.all(db, from, { appId, channel, fromHour });
}

export type CountedHour = AppHour & { readonly appId: string; readonly channel: Channel };

/** Adds to the hour, unless its app is deleted; what is older than a month goes. */
export function addAppHour(db: Connection, { appId, channel, ...counted }: CountedHour): void {
  if (db.statement('SELECT 1 FROM apps WHERE id = :appId').get({ appId }) === undefined) return;
  const [before] = readAppHours(db, appId, channel, counted.hour).filter(({ hour }) => hour === counted.hour);
  if (before === undefined) {
    const remove = 'DELETE FROM app_hours WHERE app_id = :appId AND channel = :channel AND hour < :oldest';
    db.statement(remove).run({ appId, channel, oldest: counted.hour - KEPT_HOURS });
  }
  const sum = (name: 'ended' | 'failed' | 'people') => counted[name] + (before?.[name] ?? 0);
  const firstWords = JSON.stringify(addedFirstWords(before?.firstWords ?? [], counted.firstWords));
  const row = { appId, channel, hour: counted.hour, ended: sum('ended'), failed: sum('failed'), people: sum('people'), firstWords };
  insert(
    db,
    'app_hours',
    row,
    `ON CONFLICT (app_id, channel, hour)
      DO UPDATE SET ended = excluded.ended, failed = excluded.failed, people = excluded.people, first_words = excluded.first_words`,
  );
}

/** What an app leans on: the model, its own server, and what its knowledge is read from. */
export const LEANED_ON = ['model', 'backend', 'knowledge'] as const;
export type LeanedOn = (typeof LEANED_ON)[number];

export interface TriedHour {
  readonly appId: string;
  readonly kind: LeanedOn;
  readonly hour: number;
  readonly tried: number;
  readonly failed: number;
}

/** Adds to the hour, unless its app is deleted; what is older than a month goes. */
function addTriedHour(db: Connection, { appId, kind, hour, tried, failed }: TriedHour): void {
  if (db.statement('SELECT 1 FROM apps WHERE id = :appId').get({ appId }) === undefined) return;
  const remove = 'DELETE FROM tried_hours WHERE app_id = :appId AND kind = :kind AND hour < :oldest';
  db.statement(remove).run({ appId, kind, oldest: hour - KEPT_HOURS });
  const sums = 'DO UPDATE SET tried = tried + excluded.tried, failed = failed + excluded.failed';
  insert(db, 'tried_hours', { appId, kind, hour, tried, failed }, `ON CONFLICT (app_id, kind, hour) ${sums}`);
}

const triedHour = columns({ kind: text.as<LeanedOn | 'turns'>(), hour: integer, tried: integer, failed: integer });

export type TriedOfApp = RowOf<typeof triedHour>;

/** The hours from `fromHour` on, of all keys; attempts at turns are `turns`. */
export function readTriedHours(db: Connection, appId: string, fromHour: number): TriedOfApp[] {
  const kinds = LEANED_ON.map((kind) => `'${kind}'`).join(', ');
  const from = `FROM (
    SELECT kind, hour, tried, failed FROM tried_hours WHERE app_id = :appId AND kind IN (${kinds}) AND hour >= :fromHour
    UNION ALL
    SELECT 'turns', hour, ended, failed FROM app_hours WHERE app_id = :appId AND channel IN ('live', 'sandbox') AND hour >= :fromHour
  )`;
  return triedHour.all(db, from, { appId, fromHour });
}

export const transactions = {
  addAppHours(db: Connection, { hours, tried }: { hours: readonly CountedHour[]; tried: readonly TriedHour[] }): void {
    for (const hour of hours) addAppHour(db, hour);
    for (const hour of tried) addTriedHour(db, hour);
  },
};
