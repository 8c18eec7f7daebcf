/** The thread of long reads: one named read after the other, each on a connection of its own that cannot write. */
import { serveCalls } from '../watch/side-calls.ts';
import { threadClock } from '../watch/thread-time.ts';
import { openReader } from './database.ts';
import { type LongAnswer, type LongRead, longReads } from './long-reads.ts';

const clock = threadClock();

serveCalls({
  read({ path, read, input }: LongRead): LongAnswer {
    const before = clock().ranMs;
    // Opening takes a millisecond, which no long read notices; kept open, it might be of a file that has gone meanwhile.
    const connection = openReader(path);
    try {
      const value = longReads[read](connection, input);
      return { value, tookMs: clock().ranMs - before };
    } finally {
      connection.close();
    }
  },
});
