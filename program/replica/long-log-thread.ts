/** The thread that moves a long log into its file: some 4 ms for each MB, which would hold up the event loop. */
import { writing } from '../../storage/sqlite/log-emptying.ts';
import { serveCalls } from '../../watch/side-thread.ts';

export type LongLogs = { moveIntoFile(path: string): void };

serveCalls({
  moveIntoFile(path) {
    // Passive: nobody waits for it, and what a reader still needs stays in the log until the next time.
    writing(path, (db) => void db.statement('PRAGMA wal_checkpoint(PASSIVE)').get(), { mustExist: true });
  },
} satisfies LongLogs);
