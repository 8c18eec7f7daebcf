/** How much space the disk under the data directory has. Uploads and writes both ask here: uploads are refused before databases run out. */
import { statfsSync } from 'node:fs';

export interface DiskRoom {
  /** What this process may still use; root's own reserve is not in it. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The answer is kept this long: a system call takes microseconds, and a second of uploads is some tens of MB. */
const KNOWN_FOR_MS = 1_000;
/**
 * Space reserved for the databases: enough for the logs of those that are written most, 16 to 32 MB each, a backup of a small installation and the work on a move,
 * and for the time in which a person makes room.
 */
const DATABASES_KEEP_BYTES = 512 * 1024 * 1024;
/** On a small disk they keep this share of it. */
const DATABASES_KEEP_SHARE = 0.05;
/** With less than this there is no room for one more write and the files that SQLite puts beside it. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** Bytes of a disk of this size that are kept for the databases: 512 MB, or 5 % of a small one. */
export function keptForDatabases({ totalBytes }: DiskRoom): number {
  return Math.min(DATABASES_KEEP_BYTES, Math.floor(totalBytes * DATABASES_KEEP_SHARE));
}

export function isFull({ freeBytes }: DiskRoom): boolean {
  return freeBytes < FULL_BELOW_BYTES;
}

export function readDiskRoom(dir: string): DiskRoom {
  const { bavail, blocks, bsize } = statfsSync(dir);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The same from a cache, read at most once a second: for use in every request. */
export function createDiskRoom(dir: string, read = readDiskRoom, nowMs: () => number = () => performance.now()): () => DiskRoom {
  let known: DiskRoom | undefined;
  let knownAtMs = 0;
  return () => {
    if (known === undefined || nowMs() - knownAtMs >= KNOWN_FOR_MS) {
      known = read(dir);
      knownAtMs = nowMs();
    }
    return known;
  };
}
