/**
 * Which organisations' files are in use, and what is due in those that are not. From these rows of `control.sqlite` a start, and whatever runs
 * in the background, learns which files need not be opened (STORE-19, STORE-20).
 *
 * Two databases cannot commit together, so the control file may say too much and never too little. A process notes that it uses a file before
 * its first write to it. While the note stands nothing else is said of the file, and whoever must know looks into it. When nobody has
 * written for a while, the file is looked through; the commit that removes the note says when something in it is due. A crash at any moment
 * leaves the note, and then the file is looked through by others.
 *
 * `uses` is compared for a process that was suspended while it looked: others may have used the file since, and said something newer of it.
 */
import { insert, integer, readIds, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { livesHere } from './organisations.ts';

/** In place of a process: no process has looked through the file since it was put in its place by a move, a restore or a person. */
export const NOBODY = '';

const USED_PER_PAGE = 100;
/** SQLite's LIMIT for all rows. */
const ALL = -1;

/** Up to `limit` organisations whose files any process uses, after the id `after` ('' for the first ones). */
export function usedOrganisationsAfter(control: Connection, after: string, limit: number): string[] {
  const select = `SELECT DISTINCT organisation_id FROM organisation_uses WHERE organisation_id > :after AND ${livesHere('organisation_uses.organisation_id')}
    ORDER BY organisation_id LIMIT :limit`;
  return readValues(control, text, select, { after, limit });
}

export function* usedOrganisations(control: Connection): Generator<string> {
  for (let page = usedOrganisationsAfter(control, '', USED_PER_PAGE); page.length > 0; ) {
    yield* page;
    page = usedOrganisationsAfter(control, page.at(-1) ?? '', USED_PER_PAGE);
  }
}

export function usingProcesses(control: Connection): string[] {
  return readValues(control, text, 'SELECT DISTINCT used_by FROM organisation_uses ORDER BY used_by');
}

export function usersOf(control: Connection, organisationId: string): string[] {
  const select = 'SELECT DISTINCT used_by FROM organisation_uses WHERE organisation_id = :organisationId';
  return readValues(control, text, select, { organisationId });
}

/** The organisations whose files this process uses, or did when it ended, at most `limit`. */
export function organisationsUsedBy(control: Connection, usedBy: string, limit = ALL): string[] {
  const select = `SELECT DISTINCT organisation_id FROM organisation_uses WHERE used_by = :usedBy AND ${livesHere('organisation_uses.organisation_id')}
    ORDER BY organisation_id LIMIT :limit`;
  return readValues(control, text, select, { usedBy, limit });
}

/** Organisations that are not in use and in whose files something is due at `nowMs`, soonest first, at most `limit`. */
export function dueOrganisations(control: Connection, nowMs: number, limit: number): string[] {
  const from = `FROM (SELECT organisation_id AS id, due_at_ms FROM organisation_files WHERE due_at_ms <= :nowMs) AS due
    WHERE ${livesHere('due.id')} ORDER BY due_at_ms LIMIT :limit`;
  return readIds(control, from, { nowMs, limit });
}

/** What the organisations that are not in use have spent on this day (UTC). */
export function spentByUnused(control: Connection, day: string): number {
  const select = `SELECT coalesce(sum(spent_microusd), 0) FROM organisation_files AS f WHERE spent_day = :day AND ${livesHere('f.organisation_id')}
    AND NOT EXISTS (SELECT 1 FROM organisation_uses AS u WHERE u.organisation_id = f.organisation_id)`;
  return readValue(control, integer, select, { day }) ?? 0;
}

export function readUseCount(control: Connection, organisationId: string): number | undefined {
  return readValue(control, integer, 'SELECT uses FROM organisation_files WHERE organisation_id = :organisationId', { organisationId });
}

/** What was found in a file that is closed; undefined: it is in use. '': nothing was. */
export function readGlance(control: Connection, organisationId: string): string | undefined {
  const select = `SELECT glance FROM organisation_files AS f WHERE organisation_id = :organisationId
    AND NOT EXISTS (SELECT 1 FROM organisation_uses AS u WHERE u.organisation_id = f.organisation_id)`;
  return readValue(control, text, select, { organisationId });
}

interface UseRef {
  readonly organisationId: string;
  readonly usedBy: string;
}

export interface LookedThrough {
  /** When something is due; null: nothing is. */
  readonly dueAtMs: number | null;
  /** The day on which it was looked through (UTC), and what was spent on it. */
  readonly spentDay: string;
  readonly spentMicroUsd: number;
  /** What the console shows of it while it is closed: JSON; absent: nothing. */
  readonly glance?: string;
}

/** To be committed before the process writes to the file. Idempotent. */
export function beginUse(db: Connection, { organisationId, usedBy }: UseRef): void {
  insert(db, 'organisation_uses', { usedBy, organisationId }, 'ON CONFLICT DO NOTHING');
  const update = 'UPDATE organisation_files SET uses = uses + 1, due_at_ms = NULL WHERE organisation_id = :organisationId';
  db.statement(update).run({ organisationId });
}

/**
 * The process no longer uses the file, in which it found this. `uses` is what was read before it looked; false, and nothing is changed, when
 * others have used the file since. While others use it nothing is due by these rows: they will look.
 */
function endUse(db: Connection, { usedBy, ...found }: UseRef & LookedThrough & { readonly uses: number }): boolean {
  const { organisationId } = found;
  const update = `UPDATE organisation_files SET uses = uses + 1, due_at_ms = :dueAtMs, spent_day = :spentDay, spent_microusd = :spentMicroUsd, glance = :glance
    WHERE organisation_id = :organisationId AND uses = :uses`;
  const { changes } = db.statement(update).run({ glance: '', ...found });
  if (changes === 0) return false;
  forgetUses(db, { organisationId, processes: [usedBy] });
  const change = `UPDATE organisation_files SET due_at_ms = NULL
    WHERE organisation_id = :organisationId AND EXISTS (SELECT 1 FROM organisation_uses WHERE organisation_id = :organisationId)`;
  db.statement(change).run({ organisationId });
  return true;
}

/** What these processes, which are gone, left in the file was taken up. */
function forgetUses(db: Connection, { organisationId, processes }: { organisationId: string; processes: readonly string[] }): void {
  const remove =
    'DELETE FROM organisation_uses WHERE organisation_id = :organisationId AND used_by IN (SELECT value FROM json_each(:processes))';
  db.statement(remove).run({ organisationId, processes: JSON.stringify(processes) });
}

export function lookThroughAll(db: Connection): void {
  const insert = `INSERT INTO organisation_uses (used_by, organisation_id) SELECT '${NOBODY}', organisation_id FROM organisation_files WHERE true
    ON CONFLICT DO NOTHING`;
  db.statement(insert).run();
}

export const transactions = { beginUse, endUse, forgetUses };
