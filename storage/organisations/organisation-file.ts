/**
 * One organisation's file: created once, and afterwards opened only if it is still that file. A file that is missing, empty, foreign or
 * damaged is left exactly as it is, because it holds all that the organisation has.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { APPLICATION_IDS, migrate, SchemaError } from '../migrations/migrate.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { OPEN_WAIT_MAX_MS, openMade, openWriter, reading, retryWhileBusy } from '../sqlite/database.ts';
import { settleFile } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk, storageErrorCodeOf } from '../sqlite/storage-error.ts';

/** Why a file is not the one that was created. */
export type FileProblem = 'missing' | 'empty' | 'foreign' | 'damaged' | 'unreadable';

/** The file cannot be used; `message` names it and says why, in one sentence. */
export class FileProblemError extends Error {
  readonly problem: FileProblem;

  constructor(problem: FileProblem, path: string, what: string, cause?: unknown) {
    super(`${path} ${what}`, cause === undefined ? undefined : { cause });
    this.name = 'FileProblemError';
    this.problem = problem;
  }
}

function unreadable(path: string, error: unknown): FileProblemError {
  const reason = error instanceof Error ? error.message : String(error);
  const what = `cannot be read: ${reason}. Look at the owner and the mode of the file and its folder, and at the system’s log.`;
  return new FileProblemError('unreadable', path, what, error);
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
    const found = stateOf(path);
    return found?.isFile() === true ? `${found.dev} ${found.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * SQLite reports the same error for an unreadable file and for a full disk: this distinguishes them.
 * @throws FileProblemError when the file, or what SQLite keeps beside it, may not be read.
 */
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
  const found = stateOf(path);
  if (found === undefined) throw new FileProblemError('missing', path, 'is missing.');
  if (!found.isFile()) throw new FileProblemError('foreign', path, 'is not a file.');
  if (found.size === 0) throw new FileProblemError('empty', path, 'is empty: it has 0 bytes.');
}

const identity = columns({ organisationId: text });

function writtenIdentity(db: Connection): string | undefined {
  return identity.get(db, 'FROM file_identity WHERE id = 1')?.organisationId;
}

/** Writes into the file whose it is, once. */
export function writeIdentity(db: Connection, organisationId: string): void {
  db.statement('INSERT INTO file_identity (id, organisation_id) VALUES (1, :organisationId) ON CONFLICT (id) DO NOTHING').run({
    organisationId,
  });
}

function requireIdentity(db: Connection, path: string, organisationId: string): void {
  const owner = writtenIdentity(db);
  if (owner !== organisationId) {
    throw new FileProblemError('foreign', path, `is the file of ${owner ?? 'no organisation'}, not of ${organisationId}.`);
  }
}

/** @throws FileProblemError for an empty database or one of another program. */
function requireKind(db: Connection, path: string): void {
  const applicationId = db.statement('PRAGMA application_id').get()?.application_id;
  if (applicationId === APPLICATION_IDS.organisation) return;
  const { objects } = db.statement('SELECT count(*) AS objects FROM sqlite_schema').get() ?? {};
  if (objects === 0) throw new FileProblemError('empty', path, 'is empty: it is a database without tables.');
  throw new FileProblemError('foreign', path, `is not an organisation's file of this service: its application_id is ${applicationId}.`);
}

/** Turns SQLite's errors about the file itself into FileProblemError; others, such as a full disk, stay as they are. */
function problemOf(error: unknown, path: string): unknown {
  if (error instanceof FileProblemError) return error;
  const cause = error instanceof SchemaError && error.cause !== undefined ? error.cause : error;
  const code = storageErrorCodeOf(cause);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === 'corrupt') return new FileProblemError('damaged', path, `is damaged: ${reason}.`, error);
  if (error instanceof SchemaError && code === 'failed') return new FileProblemError('foreign', path, `cannot be used: ${reason}`, error);
  return error;
}

/** Whether the file has this program's schema. Reads only, because a foreign file must not be changed. */
function isCurrent(path: string, organisationId: string): boolean {
  return reading(path, (db) => {
    requireKind(db, path);
    if (db.statement('PRAGMA user_version').get()?.user_version !== organisationMigrations.length) return false;
    requireIdentity(db, path, organisationId);
    return true;
  });
}

function upgrade(path: string, organisationId: string, isNoted: boolean): void {
  const db = openWriter(path, { mustExist: isNoted });
  try {
    migrate(db, organisationMigrations, 'organisation');
    // A file without a note may be half made; nothing in it was ever acknowledged.
    if (!isNoted) writeIdentity(db, organisationId);
    requireIdentity(db, path, organisationId);
    if (!isNoted) settleFile(db);
  } finally {
    db.close();
  }
}

/** What is read of an organisation whose file was never created: the schema without rows. */
export function openUnmade(options: { readonly vectors: boolean }): Connection {
  return openMade((db) => migrate(db, organisationMigrations, 'organisation'), options);
}

/**
 * Creates the file when it was never created (`isNoted` false), otherwise migrates it to this program's schema. Blocks.
 * @throws FileProblemError when an existing file is missing or is not that file; SQLite's error when the disk refuses.
 */
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

/**
 * Checks that an open connection, possibly read-only, reads the organisation's file in this program's schema.
 * @throws FileProblemError when it does not; SQLite's error.
 */
export function requireOrganisationFile(db: Connection, path: string, organisationId: string): void {
  try {
    requireKind(db, path);
    const version = db.statement('PRAGMA user_version').get()?.user_version;
    if (version !== organisationMigrations.length) {
      throw new FileProblemError('foreign', path, `has schema version ${version} and cannot be upgraded now.`);
    }
    requireIdentity(db, path, organisationId);
  } catch (error) {
    throw problemOf(error, path);
  }
}
