/** Empties the write-ahead log of a file after an erasure: it holds older versions of pages. For the writer thread. */
import type { Connection } from './connection.ts';
import { jitteredPauseMs } from './database.ts';

/** Immediate tries, each of 50 ms inside SQLite and a pause of up to 20 ms: most readers finish within milliseconds. */
const TRIES_MAX = 20;
/** Interval of later tries, when a reader, such as a backup, takes minutes. */
const RETRY_MS = 1_000;

/** Moves the write-ahead log into the file and truncates it; false when a reader still uses it, or on failure. */
export function emptiesLog(connection: Connection): boolean {
  try {
    return connection.statement('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    return false;
  }
}

/**
 * Empties the log and calls `then`. When that is not possible now, `then` is called anyway and the log is emptied later. `connection` returns
 * undefined once the file is closed; closing the last connection empties the log.
 */
export function emptyLog(connection: () => Connection | undefined, then: () => void, triesLeft = TRIES_MAX): void {
  const open = connection();
  if (open === undefined || emptiesLog(open)) {
    then();
    return;
  }
  if (triesLeft > 1) {
    setTimeout(() => emptyLog(connection, then, triesLeft - 1), jitteredPauseMs());
    return;
  }
  then();
  setTimeout(() => emptyLog(connection, () => {}, 1), RETRY_MS).unref();
}
