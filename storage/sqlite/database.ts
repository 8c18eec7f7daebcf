/**
 * Opens SQLite files the two ways the service uses them: read-only on the event loop, read-write in the writer thread
 * (and at boot). Owns every pragma. Durability is set explicitly because the driver's default in WAL mode is weaker.
 */
import { readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import * as sqliteVec from 'sqlite-vec';
import { note } from '../../watch/sections.ts';
import type { Connection, Row, SqlValue, Statement } from './connection.ts';
import { StorageError, storageErrorCodeOf } from './storage-error.ts';

/** SQLite's own wait for a lock. It blocks the calling thread, so it stays short; callers retry with jitter. */
export const BUSY_TIMEOUT_MS = 50;
/** Page cache of one connection: holds the inner index pages of a typical organisation. 128 open writers have 256 MB at most. */
const CACHE_KIB = 2_048;
/** A WAL that one large transaction or a slow reader blew up is cut back to this when it is next reset. */
const WAL_KEPT_BYTES = 16 * 1024 * 1024;
/** How long to try to open a file that is locked, as it is for milliseconds while a log is read anew: this blocks the event loop. */
export const OPEN_WAIT_MAX_MS = 100;
/** SQLite's own wait does not cover the switch to WAL, for which processes that create a file together race. */
const WAL_SWITCH_MAX_MS = 2_000;
const RETRY_PAUSE_MIN_MS = 2;
const RETRY_PAUSE_MAX_MS = 20;

/** What is thrown in place of an error of the driver. */
type OnError = (error: unknown) => unknown;

class SqliteStatement<T> implements Statement<T> {
  readonly #prepared: Database.Statement<unknown[], T>;
  readonly #sql: string;
  readonly #onError: OnError;

  constructor(prepared: Database.Statement<unknown[], T>, sql: string, onError: OnError) {
    this.#prepared = prepared;
    this.#sql = sql;
    this.#onError = onError;
  }

  // Two calls, because the driver would bind an explicit `undefined` as a parameter.
  get(parameters?: Row): T | undefined {
    const startedMs = performance.now();
    try {
      return parameters === undefined ? this.#prepared.get() : this.#prepared.get(parameters);
    } catch (error) {
      throw this.#onError(error);
    } finally {
      this.#timed(startedMs);
    }
  }

  all(parameters?: Row): T[] {
    const startedMs = performance.now();
    try {
      return parameters === undefined ? this.#prepared.all() : this.#prepared.all(parameters);
    } catch (error) {
      throw this.#onError(error);
    } finally {
      this.#timed(startedMs);
    }
  }

  /** Notes a long read for the stall watch by its SQL, which holds no values. */
  #timed(startedMs: number): void {
    note(this.#sql, '', performance.now() - startedMs);
  }

  run(parameters?: Row): { changes: number; lastInsertRowid: number | bigint } {
    try {
      return parameters === undefined ? this.#prepared.run() : this.#prepared.run(parameters);
    } catch (error) {
      throw this.#onError(error);
    }
  }
}

/** SQLite plans for the value that such a parameter has, so it prepares the statement anew each time that it runs. For an expression it does not. */
const BARE_LIMIT = /\b(?:LIMIT|OFFSET) :\w+/g;

const asItIs: OnError = (error) => error;

class SqliteConnection implements Connection {
  readonly path: string;
  readonly #database: Database.Database;
  readonly #onError: OnError;
  // Needs no bound: SQL texts are constants of the source.
  readonly #statements = new Map<string, Statement>();
  readonly #tuples = new Map<string, Statement<readonly SqlValue[]>>();

  constructor(path: string, database: Database.Database, onError: OnError = asItIs) {
    this.path = path;
    this.#database = database;
    this.#onError = onError;
  }

  statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = new SqliteStatement(this.#prepare<Row>(sql), sql, this.#onError);
    this.#statements.set(sql, statement);
    return statement;
  }

  tuples(sql: string): Statement<readonly SqlValue[]> {
    const known = this.#tuples.get(sql);
    if (known !== undefined) return known;
    const statement = new SqliteStatement(this.#prepare<readonly SqlValue[]>(sql).raw(), sql, this.#onError);
    this.#tuples.set(sql, statement);
    return statement;
  }

  #prepare<T>(sql: string): Database.Statement<unknown[], T> {
    try {
      return this.#database.prepare<unknown[], T>(sql.replace(BARE_LIMIT, '$& + 0'));
    } catch (error) {
      throw this.#onError(error);
    }
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.#tuples.clear();
    this.#database.close();
  }
}

/** Blocks the calling thread for `durationMs`. For the writer thread and for boot, never for a thread that serves requests. */
function blockThread(durationMs: number): void {
  if (durationMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

/** Never throws: SQLite may have rolled back by itself, as on a full disk, and the first error is the one to report. */
export function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK');
  } catch {
    // Nothing is open.
  }
}

/** A pause between two tries for a lock: 2 to 20 ms, random, so that two processes do not collide again. */
export function jitteredPauseMs(): number {
  return RETRY_PAUSE_MIN_MS + Math.random() * (RETRY_PAUSE_MAX_MS - RETRY_PAUSE_MIN_MS);
}

/** Repeats `attempt`, blocking in between, while SQLite reports busy; throws that error after `waitMaxMs`. */
export function retryWhileBusy<T>(waitMaxMs: number, attempt: () => T): T {
  const startedMs = performance.now();
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (storageErrorCodeOf(error) !== 'busy' || performance.now() - startedMs >= waitMaxMs) throw error;
      blockThread(jitteredPauseMs());
    }
  }
}

function harden(database: Database.Database): void {
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.pragma(`cache_size = -${CACHE_KIB}`);
  // A file may come from another cell or a backup: its schema must not call functions, and its pages are checked when read.
  database.pragma('trusted_schema = OFF');
  database.pragma('cell_size_check = ON');
}

function useWal(database: Database.Database): void {
  // A memory database answers `memory` and cannot switch.
  retryWhileBusy(WAL_SWITCH_MAX_MS, () => {
    if (database.pragma('journal_mode', { simple: true }) !== 'wal') database.pragma('journal_mode = WAL');
  });
}

export interface ReaderOptions {
  readonly vectors?: boolean;
  /** What is thrown in place of an error of a statement; absent: the error itself. */
  readonly onError?: OnError;
}

function readerOf(
  path: string,
  database: Database.Database,
  { vectors, onError }: { vectors: boolean; onError: OnError | undefined },
): Connection {
  try {
    harden(database);
    if (vectors) sqliteVec.load(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteConnection(path, database, onError);
}

/** For reads on the event loop. Sees a write as soon as the writer's promise has resolved. @throws SQLITE_CANTOPEN without a file. */
export function openReader(path: string, { vectors = false, onError }: ReaderOptions = {}): Connection {
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  return readerOf(path, database, { vectors, onError });
}

/** What `read` makes of the database, with a connection of its own that cannot write. @throws as `openReader`; what `read` throws */
export function reading<Value>(path: string, read: (db: Connection) => Value): Value {
  const db = openReader(path);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** A connection to a database in memory, which `make` fills and which does not change afterwards. Errors of statements are thrown as they are. */
export function openMade(make: (db: Connection) => void, { vectors = false }: Pick<ReaderOptions, 'vectors'> = {}): Connection {
  const connection = readerOf(':memory:', new Database(':memory:'), { vectors, onError: undefined });
  try {
    make(connection);
    connection.exec('PRAGMA query_only = ON');
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

/** @throws Error with one sentence when sqlite-vec, which is built for some systems only, does not load on this machine. */
export function requireVectors(): void {
  const database = new Database(':memory:');
  try {
    sqliteVec.load(database);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Semantic retrieval needs sqlite-vec, which does not load on this machine (unset EMBEDDING_MODEL): ${reason}`);
  } finally {
    database.close();
  }
}

/** Bound for a copy in memory: it blocks the event loop while it is read, and uses memory while it is open. */
const SNAPSHOT_MAX_BYTES = 64 * 1024 * 1024;
/** Bytes 18 and 19 of a SQLite file give its journal mode: 2 is WAL, which a memory database cannot have; 1 is a rollback journal. */
const JOURNAL_BYTES = [18, 19] as const;

/**
 * A connection to a copy of the file in memory, for a full or read-only disk on which SQLite opens no file in WAL mode. The caller must
 * check whether the file has changed since.
 * @throws StorageError io when the file is too large, or a log beside it holds commits that the copy would lack.
 */
export function openSnapshot(path: string, { vectors = false, onError }: ReaderOptions = {}): Connection {
  const size = statSync(path).size;
  if (size > SNAPSHOT_MAX_BYTES) throw new StorageError('io', `${path} has ${size} bytes: too large to be read while the disk refuses`);
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new StorageError('io', `${path} has a write-ahead log that cannot be read while the disk refuses`);
  }
  const bytes = readFileSync(path);
  for (const at of JOURNAL_BYTES) bytes[at] = 1;
  const database = new Database(bytes, { readonly: true });
  return readerOf(path, database, { vectors, onError });
}

/**
 * A connection that writes, created if missing unless `mustExist`: WAL, `synchronous=FULL` (a COMMIT returns after fsync), foreign keys
 * enforced. Its folder must exist. Throws SQLite's errors when the file is damaged or not a database.
 */
export function openWriter(path: string, { mustExist = false }: { readonly mustExist?: boolean } = {}): Connection {
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: mustExist });
  try {
    harden(database);
    useWal(database);
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    // Deleted content is overwritten, also in freed pages, so that erased data remains in no file.
    database.pragma('secure_delete = ON');
    // A COMMIT would hide what the disk refused of its checkpoint: the writer makes them (log-emptying.ts), or Litestream (REPLICA-3).
    database.pragma('wal_autocheckpoint = 0');
    database.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteConnection(path, database);
}
