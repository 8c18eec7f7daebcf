/** Empties the write-ahead log of a file after an erasure: it holds pages as they were before. For the writer thread. */
import type { Connection } from './connection.ts';
import { jitteredPauseMs } from './database.ts';

/** Tries at once, of 50 ms inside SQLite and a pause of up to 20: whoever reads in the log is done in milliseconds. */
const TRIES_MAX = 20;
/** What could not be emptied at once, because somebody reads for minutes (a backup), is tried again so often. */
const RETRY_MS = 1_000;

/** Brings what the write-ahead log holds into the file, and cuts the log to nothing; false when somebody reads in it, or it fails. */
export function emptiesLog(connection: Connection): boolean {
  try {
    return connection.statement('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    return false;
  }
}

/**
 * Calls `then` when the log is empty, or when it cannot be emptied for now: that is done later then. `connection`: while the file is
 * open; whoever closes it as the last one empties its log.
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
