/** What a drill lost, and what must never be: reads the rows of the new host after it has ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openReader } from '../../storage/sqlite/database.ts';
import type { Acknowledged } from './people.ts';

/**
 * Acknowledged writes that are older than this when the host is lost have to be there: Litestream sends every second, and stands still
 * for some seconds when it is started anew for organisations that came.
 */
export const LOSS_MAX_MS = 20_000;

/** What the host had answered was on its way when it was lost, to people whose processor has other work. */
export const ON_THE_WAY_MS = 500;

export interface Evidence {
  readonly dataDir: string;
  readonly organisationId: string;
  readonly acknowledged: readonly Acknowledged[];
  readonly burntAtMs: number;
  readonly calls: ReadonlyMap<string, number>;
}

interface Rows {
  has(thing: Acknowledged): boolean;
  /** Sentences about rows that contradict one another. */
  readonly contradictions: readonly string[];
}

function readRows(dataDir: string, organisationId: string): Rows {
  const path = join(dataDir, 'organisations', `${organisationId}.sqlite`);
  if (!existsSync(path)) return { has: () => false, contradictions: ['the file of the organisation is not there'] };
  const control = openReader(join(dataDir, 'control.sqlite'));
  const db = openReader(path);
  try {
    const ids = (from: typeof db, sql: string) =>
      new Set(
        from
          .statement(sql)
          .all()
          .map(({ id }) => String(id)),
      );
    const known = {
      turn: ids(db, "SELECT turn_id AS id FROM turns WHERE ended_at_ms IS NOT NULL AND state <> 'failed'"),
      confirmation: ids(db, 'SELECT id FROM invocations WHERE confirmed_at_ms IS NOT NULL'),
      organisation: ids(control, 'SELECT id FROM organisations'),
    };
    const count = (sql: string) => Number(db.statement(sql).get()?.n);
    const contradictions = [
      [count('SELECT count(*) AS n FROM charges WHERE turn NOT IN (SELECT id FROM turns)'), 'charges have no turn'],
      [
        count(
          'SELECT abs((SELECT coalesce(sum(cost_microusd), 0) FROM charges) - (SELECT coalesce(sum(cost_microusd), 0) FROM usage_days)) AS n',
        ),
        'millionths of a dollar lie between charges and daily sums',
      ],
    ] as const;
    return {
      has: ({ kind, id }) => known[kind].has(id),
      contradictions: contradictions.filter(([found]) => found !== 0).map(([found, what]) => `${found} ${what}`),
    };
  } finally {
    db.close();
    control.close();
  }
}

export function judge({ dataDir, organisationId, acknowledged, burntAtMs, calls }: Evidence) {
  const rows = readRows(dataDir, organisationId);
  const missing = acknowledged.filter((thing) => !rows.has(thing));
  const lost = missing
    .filter(({ atMs }) => atMs <= burntAtMs + ON_THE_WAY_MS)
    // Below zero when the answer was on its way.
    .map(({ kind, id, atMs }) => ({ kind, id, ageMs: burntAtMs - atMs }))
    .sort((one, other) => other.ageMs - one.ageMs);
  const tooOld = lost.filter(({ ageMs }) => ageMs > LOSS_MAX_MS);
  const later = missing.filter(({ atMs }) => atMs > burntAtMs + ON_THE_WAY_MS);
  const twice = [...calls].filter(([, times]) => times > 1);
  return {
    acknowledgedBefore: acknowledged.filter(({ atMs }) => atMs <= burntAtMs).length,
    lost,
    violations: [
      ...tooOld.map(({ kind, id, ageMs }) => `${kind} ${id} was acknowledged ${ageMs} ms before the host was lost, and is lost`),
      ...later.map(
        ({ kind, id, atMs }) => `${kind} ${id} was acknowledged ${atMs - burntAtMs} ms after the host was lost, and is not there`,
      ),
      ...twice.map(([id, times]) => `the call ${id} reached the backend ${times} times`),
      ...rows.contradictions,
    ],
  };
}

/** How many turns lie there. */
export function turnsIn(dataDir: string, organisationId: string): number {
  const db = openReader(join(dataDir, 'organisations', `${organisationId}.sqlite`));
  try {
    return Number(db.statement('SELECT count(*) AS turns FROM turns').get()?.turns);
  } finally {
    db.close();
  }
}
