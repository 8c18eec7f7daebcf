/** The thread of long reads: one after the other, each on a connection of its own that cannot write. */
import { serveCalls } from '../watch/side-thread.ts';
import { threadClock } from '../watch/thread-time.ts';
import { countUsers } from './billing/usage.ts';
import type { LongReads } from './long-reads.ts';
import { FileProblemError } from './organisations/organisation-file.ts';
import { openReadable } from './organisations/organisation-readers.ts';
import { StorageError, storageErrorCodeOf } from './sqlite/storage-error.ts';

const clock = threadClock();

serveCalls({
  countUsers({ path, nowMs }) {
    const before = clock().ranMs;
    try {
      // Opened anew each time, which takes a millisecond: a connection kept open might be to a file that was replaced.
      const { connection } = openReadable(path, {}, () => {});
      try {
        return { users: countUsers(connection, nowMs), tookMs: clock().ranMs - before };
      } finally {
        connection.close();
      }
    } catch (error) {
      // Only an error's message and code cross between threads.
      const isAway = error instanceof FileProblemError || (error as NodeJS.ErrnoException).code === 'ENOENT';
      const code = isAway ? 'unavailable' : storageErrorCodeOf(error);
      throw new StorageError(code, error instanceof Error ? error.message : String(error));
    }
  },
} satisfies LongReads);
