/** What a drill lost, and what must never be: reads the rows of the new host after it has ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openReader } from '../../storage/sqlite/database.ts';
import type { Acknowledged } from './people.ts';

/**
 * What was acknowledged so long before the host was lost has to be there: Litestream reads each log once a second and sends what it read,
 * which takes one second more on a machine that also runs the load; the third is what the moment of the loss is known to.
 */
export const LOSS_MAX_MS = 3_000;
/** An organisation that came within this time before may be missing as a whole: scaling.md, "When a host is lost". */
export const NEWCOMER_MS = 3_000;
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

/** Ends of turns that have their conversation, what was asked and what was answered. */
const WHOLE_TURNS = `SELECT turn_id AS id FROM turns t WHERE ended_at_ms IS NOT NULL AND state <> 'failed'
  AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation_id)
  AND (kind = 'continuation' OR EXISTS (SELECT 1 FROM messages WHERE no = 2 * t.id))
  AND EXISTS (SELECT 1 FROM messages JOIN blocks ON place / 1024 = no WHERE no = 2 * t.id + 1)`;

function idsOf(db: ReturnType<typeof openReader>, sql: string): ReadonlySet<string> {
  const rows = db.statement(sql).all();
  return new Set(rows.map(({ id }) => String(id)));
}

/** Ids of the apps and whole turns of an organisation that came; undefined: it is not there. */
function newcomer(dataDir: string, organisations: ReadonlySet<string>, id: string): ReadonlySet<string> | undefined {
  const path = join(dataDir, 'organisations', `${id}.sqlite`);
  if (!organisations.has(id) || !existsSync(path)) return undefined;
  const db = openReader(path);
  try {
    return new Set([...idsOf(db, 'SELECT id FROM apps'), ...idsOf(db, WHOLE_TURNS)]);
  } finally {
    db.close();
  }
}

function readRows(dataDir: string, organisationId: string): Rows {
  const path = join(dataDir, 'organisations', `${organisationId}.sqlite`);
  if (!existsSync(path)) return { has: () => false, contradictions: ['the file of the organisation is not there'] };
  const control = openReader(join(dataDir, 'control.sqlite'));
  const db = openReader(path);
  try {
    const known = {
      turn: idsOf(db, WHOLE_TURNS),
      confirmation: idsOf(db, 'SELECT id FROM invocations WHERE confirmed_at_ms IS NOT NULL'),
    };
    const organisations = idsOf(control, 'SELECT id FROM organisations');
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
      has: ({ kind, id, with: parts = [] }) => {
        if (kind !== 'organisation') return known[kind].has(id);
        const there = newcomer(dataDir, organisations, id);
        return there !== undefined && parts.every((part) => there.has(part));
      },
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
  const tooOld = lost.filter(({ kind, ageMs }) => ageMs > LOSS_MAX_MS + (kind === 'organisation' ? NEWCOMER_MS : 0));
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

/** How many rows each table of the organisation has, as one text to compare. */
export function rowCounts(dataDir: string, organisationId: string): string {
  const db = openReader(join(dataDir, 'organisations', `${organisationId}.sqlite`));
  try {
    const tables = idsOf(db, "SELECT name AS id FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name");
    return [...tables].map((table) => `${table} ${db.statement(`SELECT count(*) AS n FROM "${table}"`).get()?.n}`).join(', ');
  } finally {
    db.close();
  }
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
