/**
 * Bounds the log of a replicated database (REPLICA-3) while Litestream does not run. It moves the log into the file from 4 MB on, but not while
 * it hangs or its program is missing. Nobody else may do so while it runs: between two steps of its own it lets go of the log for a moment, and
 * when the log begins anew twice in that moment, the replica lacks what came between, without a word.
 */
import { rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openWriter } from '../../storage/sqlite/database.ts';
import { rewriteLog } from '../../storage/sqlite/log-emptying.ts';

/** A log beyond this is moved into the file: some 15,000 pages, which Litestream reads from there as fast as from the log. */
const LOG_MAX_BYTES = 64 * 1024 * 1024;

function moveIntoFile(path: string): void {
  try {
    const db = openWriter(path, { mustExist: true });
    try {
      rewriteLog(db);
      // Passive: nobody waits for it, and what a reader still needs stays in the log until the next time.
      db.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
    } finally {
      db.close();
    }
  } catch {
    // A disk that refuses shows with the next write.
  }
}

/** Has Litestream 0.3, which does not run, begin with a new snapshot of this database. */
export function beginAnew(path: string): void {
  rmSync(join(dirname(path), `.${basename(path)}-litestream`, 'generation'), { force: true });
}

/** To be called for each database before Litestream 0.3 is started, which then begins with a new snapshot of a file that was changed here. Never throws. */
export function cutLongLog(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= LOG_MAX_BYTES) return;
  moveIntoFile(path);
  beginAnew(path);
}
