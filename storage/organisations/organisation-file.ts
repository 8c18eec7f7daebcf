/**
 * One organisation's file: created once, and afterwards opened only if it is still that file. A file that is missing, empty, foreign or
 * damaged is left exactly as it is, because it holds all that the organisation has.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { APPLICATION_IDS, migrate, SchemaError } from '../migrations/migrate.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { insert, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { OPEN_WAIT_MAX_MS, openMade, reading, retryWhileBusy } from '../sqlite/database.ts';
import { settleFile, writing } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk, storageErrorCodeOf } from '../sqlite/storage-error.ts';

/** The file cannot be used; `message` names it and says why, in one sentence. */
export class FileProblemError extends Error {
  override readonly name = 'FileProblemError';

  constructor(path: string, what: string, cause?: unknown) {
    super(`${path} ${what}`, cause === undefined ? undefined : { cause });
  }
}

function unreadable(path: string, error: unknown): FileProblemError {
  const reason = error instanceof Error ? error.message : String(error);
  const what = `cannot be read: ${reason}. Look at the owner and the mode of the file and its folder, and at the system’s log.`;
  return new FileProblemError(path, what, error);
}

/** @throws FileProblemError when the system cannot tell: missing permissions, a stale mount, a failing disk. */
function stateOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Identifies the file behind a path (device and inode); undefined when there is none, or the system cannot tell. Never throws. */
export function markOfFile(path: string): string | undefined {
  try {
    const stats = stateOf(path);
    return stats?.isFile() === true ? `${stats.dev} ${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/** SQLite reports the same for a full disk. @throws FileProblemError when the file, or what SQLite keeps beside it, may not be read. */
export function requireReadable(path: string): void {
  for (const each of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      // Not by opening it: closing the file would release SQLite's locks on it.
      accessSync(each, constants.R_OK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(each, error);
    }
  }
}

/** @throws FileProblemError unless there is a file that is not empty. Checked before SQLite opens it, because SQLite deletes the log of an empty file. */
export function requireFile(path: string): void {
  const stats = stateOf(path);
  if (stats === undefined) throw new FileProblemError(path, 'is missing.');
  if (!stats.isFile()) throw new FileProblemError(path, 'is not a file.');
  if (stats.size === 0) throw new FileProblemError(path, 'is empty: it has 0 bytes.');
}

function versionOf(db: Connection): unknown {
  return db.statement('PRAGMA user_version').get()?.user_version;
}

export function writeIdentity(db: Connection, organisationId: string): void {
  insert(db, 'file_identity', { id: 1, organisationId }, 'ON CONFLICT (id) DO NOTHING');
}

function requireIdentity(db: Connection, path: string, organisationId: string): void {
  const owner = readValue(db, text, 'SELECT organisation_id FROM file_identity WHERE id = 1');
  if (owner !== organisationId) {
    throw new FileProblemError(path, `is the file of ${owner ?? 'no organisation'}, not of ${organisationId}.`);
  }
}

function requireKind(db: Connection, path: string): void {
  const applicationId = db.statement('PRAGMA application_id').get()?.application_id;
  if (applicationId === APPLICATION_IDS.organisation) return;
  const { objects } = db.statement('SELECT count(*) AS objects FROM sqlite_schema').get() ?? {};
  if (objects === 0) throw new FileProblemError(path, 'is empty: it is a database without tables.');
  throw new FileProblemError(path, `is not an organisation's file of this service: its application_id is ${applicationId}.`);
}

/** Turns SQLite's errors about the file itself into FileProblemError; others, such as a full disk, stay as they are. */
function problemOf(error: unknown, path: string): unknown {
  if (error instanceof FileProblemError) return error;
  const cause = error instanceof SchemaError && error.cause !== undefined ? error.cause : error;
  const code = storageErrorCodeOf(cause);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === 'corrupt') return new FileProblemError(path, `is damaged: ${reason}.`, error);
  if (error instanceof SchemaError && code === 'failed') return new FileProblemError(path, `cannot be used: ${reason}`, error);
  return error;
}

/** Reads only, because a foreign file must not be changed. */
function isCurrent(path: string, organisationId: string): boolean {
  return reading(path, (db) => {
    requireKind(db, path);
    if (versionOf(db) !== organisationMigrations.length) return false;
    requireIdentity(db, path, organisationId);
    return true;
  });
}

function upgrade(path: string, organisationId: string, isNoted: boolean): void {
  const settle = (db: Connection) => {
    migrate(db, organisationMigrations, 'organisation');
    // A file without a note may be half made; nothing in it was ever acknowledged.
    if (!isNoted) writeIdentity(db, organisationId);
    requireIdentity(db, path, organisationId);
    if (!isNoted) settleFile(db);
  };
  writing(path, settle, { mustExist: isNoted });
}

/** What is read of an organisation whose file was never created: the schema without rows. */
export function openUnmade(options: { readonly vectors: boolean }): Connection {
  return openMade((db) => migrate(db, organisationMigrations, 'organisation'), options);
}

/** Creates the file (`isNoted` false) or migrates it. Blocks. @throws FileProblemError when it is another; what the disk refuses with. */
export function openOrganisationFile(path: string, organisationId: string, isNoted: boolean): void {
  if (isNoted) requireFile(path);
  try {
    retryWhileBusy(OPEN_WAIT_MAX_MS, () => {
      if (!isNoted || !isCurrent(path, organisationId)) upgrade(path, organisationId, isNoted);
    });
  } catch (error) {
    if (isRefusedByDisk(error)) requireReadable(path);
    throw problemOf(error, path);
  }
}

/** @throws FileProblemError when an open connection does not read the organisation's file in this program's schema; SQLite's error. */
export function requireOrganisationFile(db: Connection, path: string, organisationId: string): void {
  try {
    requireKind(db, path);
    const version = versionOf(db);
    if (version !== organisationMigrations.length) {
      throw new FileProblemError(path, `has schema version ${version} and cannot be upgraded now.`);
    }
    requireIdentity(db, path, organisationId);
  } catch (error) {
    throw problemOf(error, path);
  }
}
