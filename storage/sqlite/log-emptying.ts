/**
 * The write-ahead log of a file as a whole: emptied where it holds what was erased or takes room, and written anew where it may not be on disk.
 *
 * An fsync that failed marks its pages clean: no later one writes them, and everybody reads them as if they were on disk. When all connections
 * to a file were closed since, the next one takes what failed for committed and appends behind it, and a power cut takes all of that away. So a
 * log is written and synced again before anything is acknowledged behind such an error, or behind a log that was there when a process opened the
 * file. The second takes some 2 ms for each MB, so the writer thread does it: readers of the moment before may see what a cut then takes away.
 */
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Connection } from './connection.ts';
import { jitteredPauseMs, openReader, openWriter, rollBack } from './database.ts';
import { syncPath } from './database-copy.ts';

/** Immediate tries, each of 50 ms inside SQLite and a pause of up to 20 ms: most readers finish within milliseconds. */
const TRIES_MAX = 20;
/** Interval of later tries, when a reader, such as a backup, takes minutes. */
const RETRY_MS = 1_000;
/** A log begins with the first, and each page in it with the second. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PIECE_BYTES = 1024 * 1024;

export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Moves the write-ahead log into the file and truncates it; false when a reader still uses it. @throws SQLite's error when the disk refuses. */
export function emptiesLog(connection: Connection): boolean {
  return connection.statement('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
}

/** Empties the log and calls `then`. When that is not possible now, `then` is called anyway and the log is emptied later. `empties`: whether it is empty now. */
export function emptyLog(empties: () => boolean, then: () => void, triesLeft = TRIES_MAX): void {
  if (empties()) {
    then();
    return;
  }
  if (triesLeft > 1) {
    setTimeout(() => emptyLog(empties, then, triesLeft - 1), jitteredPauseMs());
    return;
  }
  then();
  setTimeout(() => emptyLog(empties, () => {}, 1), RETRY_MS).unref();
}

/** Moves what was written so far into the file, both synced with their names: for a file that was just made. @throws the disk's error */
export function settleFile(db: Connection): void {
  emptiesLog(db);
  syncPath(dirname(db.path));
}

/**
 * Makes the name of the log last before anything is committed to it. SQLite syncs the folder of a log that it made once, and goes on when
 * that fails: after a cut the name would lead to the log before, whose pages are older than those of the file. @throws the disk's error
 */
export function nameLog(db: Connection): void {
  // The first read makes the log.
  db.statement('SELECT count(*) FROM sqlite_schema').get();
  syncPath(dirname(db.path));
}

function pagesOf(db: Connection): { log: number; moved: number } {
  const row = db.statement('PRAGMA wal_checkpoint(NOOP)').get();
  return { log: Number(row?.log), moved: Number(row?.checkpointed) };
}

function writeAgain(file: number, bytes: number): void {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes));
  for (let at = 0; at < bytes; ) {
    const read = readSync(file, piece, 0, Math.min(piece.length, bytes - at), at);
    if (read === 0) break;
    for (let written = 0; written < read; ) written += writeSync(file, piece, written, read - written, at + written);
    at += read;
  }
  fsyncSync(file);
}

/** Writes the log again and syncs it; readers go on. @throws SQLite's error `busy` while another connection writes; the disk's error */
export function rewriteLog(db: Connection): void {
  const { log } = pagesOf(db);
  if (log <= 0) return;
  const bytes = LOG_HEADER_BYTES + log * (FRAME_HEADER_BYTES + Number(db.statement('PRAGMA page_size').get()?.page_size));
  db.exec('BEGIN IMMEDIATE');
  try {
    // No lock of SQLite's is on the log, which closing it would release.
    const file = openSync(`${db.path}-wal`, 'r+');
    try {
      writeAgain(file, bytes);
    } finally {
      closeSync(file);
    }
    syncPath(dirname(db.path));
  } finally {
    db.exec('ROLLBACK');
  }
}

/**
 * Closes a connection to a file whose log may not be on disk. The last one to close would move the log into the file: of a cut meanwhile some of
 * those pages would be left, and nothing behind them.
 */
export function closeKeepingLog(db: Connection): void {
  let guard: Connection | undefined;
  try {
    // One that can only read moves nothing.
    guard = openReader(db.path);
    guard.statement('SELECT count(*) FROM sqlite_schema').get();
  } catch {
    // The file is gone, or nothing can be opened any more: then the disk's next error is the one that shows.
  }
  db.close();
  guard?.close();
}

/** What `write` makes of the file, with a connection of its own, beside the writer thread. @throws as `openWriter` and `rewriteLog`; what `write` throws */
export function writing<Value>(path: string, write: (db: Connection) => Value, options: { readonly mustExist?: boolean } = {}): Value {
  const db = openWriter(path, options);
  try {
    rewriteLog(db);
    const value = write(db);
    db.close();
    return value;
  } catch (error) {
    closeKeepingLog(db);
    throw error;
  }
}

/**
 * Makes sure that what is committed is on disk, after an error of the log or, with `file`, of a sync of the file itself: then pages that
 * were moved there may be lost, too, and all are put into the log again. @throws the disk's error; then it has to be done again.
 */
export function mend(db: Connection, what: 'log' | 'file'): void {
  rewriteLog(db);
  if (what === 'file' && pagesOf(db).moved > 0) {
    db.exec('VACUUM');
    return;
  }
  // A commit that changes nothing takes the place of the one that failed, which cannot be found afterwards.
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(`PRAGMA user_version = ${db.statement('PRAGMA user_version').get()?.user_version}`);
    db.exec('COMMIT');
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** A write of a turn has some 3 pages, so the log has some 3,000 by then: 12 MB, less than is kept of it. */
const WRITES_MAX = 1_000;
/** A log that is longer, by large writes or in a slow reader's time, is moved earlier, so that readers search a short one. */
const LOG_MAX_BYTES = 32 * 1024 * 1024;
/** How often the log's length is asked for, which costs microseconds. */
const LOOK_WRITES = 16;
/** Files whose writes are counted, many more than are open at a time. */
const FILES_MAX = 10_000;

/** When the writer makes checkpoints: after answers have left. `replicated`: another program makes them, and would lose what was cut. */
export class Checkpoints {
  readonly #replicated: boolean;
  /** Writes since the last checkpoint, by path: a file that is closed and opened again goes on counting. */
  readonly #writes = new LRUCache<string, number>({ maxSize: FILES_MAX, sizeCalculation: () => 1 });

  constructor(replicated: boolean) {
    this.#replicated = replicated;
  }

  /** To be called when the answers of a group have left. @throws SQLite's error when the disk refuses. */
  afterGroup(connection: Connection, writes: number): void {
    if (this.#replicated) return;
    const { path } = connection;
    const sum = (this.#writes.get(path) ?? 0) + writes;
    this.#writes.set(path, sum < WRITES_MAX ? sum : 0);
    // Passive: what a reader still needs waits in the log until the next one.
    const isLookedAt = Math.floor(sum / LOOK_WRITES) > Math.floor((sum - writes) / LOOK_WRITES);
    if (sum >= WRITES_MAX || (isLookedAt && logBytes(path) > LOG_MAX_BYTES)) connection.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
  }
}
