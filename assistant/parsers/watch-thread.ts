/** Ends a parser whose main thread a document keeps busy, when the service is gone or the process has grown beyond its bound. */
import { workerData } from 'node:worker_threads';

/** In this time a stream unfolds to some 100 MB. */
const LOOK_MS = 100;
const MB = 1024 * 1024;

const { parentPid, watchMb } = workerData as { readonly parentPid: number; readonly watchMb: number };

setInterval(() => {
  const isOrphan = process.ppid !== parentPid;
  if (isOrphan || process.memoryUsage.rss() > watchMb * MB) process.kill(process.pid, 'SIGKILL');
}, LOOK_MS);
