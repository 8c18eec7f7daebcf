/**
 * Copies of databases and of the files beside them, for backups and moves of organisations: made while others write, complete and on disk
 * when the call returns, and verified before use. Blocks the calling thread, so never call it from one that serves requests.
 *
 * Uses `VACUUM INTO` rather than SQLite's backup API: it reads one snapshot however long it takes (the API restarts at every write of
 * another process), blocks no writer in WAL mode, and leaves out deleted data, as erasure requires.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { controlMigrations } from '../migrations/control.ts';
import { APPLICATION_IDS, type DatabaseKind } from '../migrations/migrate.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import type { Connection } from './connection.ts';
import { openReader, retryWhileBusy } from './database.ts';

export interface DatabaseFacts {
  readonly kind: DatabaseKind;
  /** `PRAGMA user_version`: the migrations it has had. */
  readonly schemaVersion: number;
  /** Rows by table, sorted by name. */
  readonly rows: Readonly<Record<string, number>>;
  /** Bytes. */
  readonly size: number;
  /** Digest of the file, hex. */
  readonly sha256: string;
}

/** A database file that cannot be used: damaged, of another program, or of a newer release. The message names the file. */
export class DamagedDatabase extends Error {
  readonly path: string;
  /** What is wrong, as a phrase after the file's name: `is damaged: …`. */
  readonly what: string;

  constructor(path: string, what: string) {
    super(`${path} ${what}`);
    this.name = 'DamagedDatabase';
    this.path = path;
    this.what = what;
  }
}

/** Bytes per read: large enough that the cost of the calls does not matter. */
const READ_BYTES = 1024 * 1024;
/** How long to wait for a lock: recovering the WAL after a crash, or closing the file as the last user, blocks readers for a moment. */
const BUSY_MAX_MS = 5_000;
/** A few problems suffice; a damaged file may have thousands. */
const PROBLEMS_SHOWN = 3;

const NEWEST: Readonly<Record<DatabaseKind, number>> = {
  control: controlMigrations.length,
  organisation: organisationMigrations.length,
};

/** Makes a file or the entries of a folder durable. @throws the system's error. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Makes the names in a folder and in all below it durable. @throws the system's error. */
export function syncFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) syncFolders(join(folder, entry.name));
  }
  syncPath(folder);
}

/** Puts what `fill` writes at `path`, which is whole and on disk or as it was. @throws what `fill` throws; the system's error. */
export function putInPlace(path: string, fill: (unfinished: string) => void): void {
  // A name of its own, because two processes may put the same in place.
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    fill(unfinished);
    syncPath(unfinished);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

/** Copies an unchanging file into a new one (mode 0600), on disk when this returns. @throws the system's error. */
export function copyFileWhole(source: string, target: string): void {
  // Shares blocks where the file system can; verification reads the bytes again either way.
  copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(target, 0o600);
  syncPath(target);
}

/** SHA-256 of a file's bytes in hex; the file may be larger than memory. @throws the system's error. */
export function sha256OfFile(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) hash.update(buffer.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

/**
 * Copies a snapshot of the database `source`, which others may be writing, into the new file `target` (mode 0600), which is on disk
 * with its name when this returns. A copy that fails leaves no file.
 * @throws Error EEXIST when there is a `target`; SQLite's error when `source` is not there, is damaged, or the disk is full.
 */
export function copyDatabase(source: string, target: string): void {
  // SQLite fills an empty file. It is created here, so that nobody else can read it and nothing is overwritten.
  closeSync(openSync(target, 'wx', 0o600));
  try {
    retryWhileBusy(BUSY_MAX_MS, () => {
      truncateSync(target, 0);
      const connection = openReader(source);
      try {
        connection.statement('VACUUM INTO :target').run({ target });
      } finally {
        connection.close();
      }
    });
    syncPath(target);
    syncPath(dirname(target));
  } catch (error) {
    for (const path of [target, `${target}-journal`]) rmSync(path, { force: true });
    throw error;
  }
}

function numberOf(connection: Connection, pragma: string): number {
  return Number(connection.statement(`PRAGMA ${pragma}`).get()?.[pragma]);
}

function kindOf(connection: Connection): DatabaseKind | undefined {
  const applicationId = numberOf(connection, 'application_id');
  return (Object.keys(APPLICATION_IDS) as DatabaseKind[]).find((kind) => APPLICATION_IDS[kind] === applicationId);
}

function requireSound(connection: Connection): void {
  const found = connection.statement(`PRAGMA integrity_check(${PROBLEMS_SHOWN})`).all();
  const problems = found.map((row) => String(row.integrity_check)).filter((text) => text !== 'ok');
  if (problems.length > 0) throw new DamagedDatabase(connection.path, `is damaged: ${problems.join('; ')}`);
  const orphan = connection.statement('PRAGMA foreign_key_check').get();
  if (orphan !== undefined) {
    throw new DamagedDatabase(connection.path, `is damaged: a row of ${orphan.table} refers to a row of ${orphan.parent} that is missing`);
  }
}

/** Rows by table, without the internal tables of a full-text index. */
function countRows(connection: Connection): Record<string, number> {
  const tables = connection
    .statement(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [name as string, Number(connection.statement(`SELECT count(*) AS rows FROM "${name}"`).get()?.rows)]),
  );
}

function factsOf(connection: Connection): Omit<DatabaseFacts, 'size' | 'sha256'> {
  const { path } = connection;
  const kind = kindOf(connection);
  const schemaVersion = numberOf(connection, 'user_version');
  if (kind === undefined) throw new DamagedDatabase(path, 'is not a database of this service.');
  if (schemaVersion < 1) throw new DamagedDatabase(path, 'has no schema.');
  if (schemaVersion > NEWEST[kind]) {
    const known = `this program knows up to version ${NEWEST[kind]}`;
    throw new DamagedDatabase(path, `has schema version ${schemaVersion}, made by a newer release; ${known}. Use the newer release.`);
  }
  requireSound(connection);
  return { kind, schemaVersion, rows: countRows(connection) };
}

/**
 * Verifies a copy that nobody writes: SQLite's integrity check with all indexes, foreign keys, kind and schema version. Returns the rows of
 * its tables and its digest. Changes nothing.
 * @throws DamagedDatabase when it cannot be relied on, or is not of the kind; the system's error when it cannot be read.
 */
export function verifyDatabase(path: string, kind?: DatabaseKind): DatabaseFacts {
  const { size } = statSync(path);
  const sha256 = sha256OfFile(path);
  let connection: Connection | undefined;
  try {
    connection = openReader(path);
    const facts = factsOf(connection);
    if (kind !== undefined && facts.kind !== kind) throw new DamagedDatabase(path, `is a database of kind "${facts.kind}"`);
    return { ...facts, size, sha256 };
  } catch (error) {
    if (error instanceof DamagedDatabase) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DamagedDatabase(path, `cannot be read as a database: ${reason}`);
  } finally {
    connection?.close();
  }
}
