/**
 * How long the calling thread ran, and how long it waited for a processor, which separates own work from a busy machine. Read from Linux'
 * /proc; elsewhere the processor time of the whole process is used.
 */
import { openSync, readSync } from 'node:fs';

export interface ThreadTime {
  /** On a processor. */
  readonly ranMs: number;
  /** Time ready to run while others used the processors; null where unknown. */
  readonly waitedMs: number | null;
}

/** Three numbers of 20 digits at most. */
const LINE_MAX_BYTES = 64;
const NS_PER_MS = 1e6;
const US_PER_MS = 1e3;

function ofProcess(): ThreadTime {
  const { user, system } = process.cpuUsage();
  return { ranMs: (user + system) / US_PER_MS, waitedMs: null };
}

/** A clock of the calling thread. Each reading takes some 4 µs; it keeps one file open. */
export function threadClock(): () => ThreadTime {
  let file: number;
  try {
    file = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return ofProcess;
  }
  const line = Buffer.alloc(LINE_MAX_BYTES);
  return () => {
    const length = readSync(file, line, 0, LINE_MAX_BYTES, 0);
    const [ran = '', waited = ''] = line.toString('latin1', 0, length).split(' ');
    return { ranMs: Number(ran) / NS_PER_MS, waitedMs: Number(waited) / NS_PER_MS };
  };
}
