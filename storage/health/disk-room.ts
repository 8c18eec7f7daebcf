/**
 * How much room the disk under the data directory has, and whether it is short of it. Uploads and writes ask the same question here,
 * so that they agree: what strangers send ends before what the databases need.
 */
import { statfsSync } from 'node:fs';

export interface DiskRoom {
  /** What this process may still use; root's own reserve is not in it. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Asked again after this long: a call of the system takes microseconds, and a second of uploads is some tens of MB. */
const KNOWN_FOR_MS = 1_000;
/**
 * Room that is kept for the databases: their logs grow to 16 MB each, a backup of a small installation and the work on a move fit, and
 * a person has time to make room while the service goes on.
 */
const DATABASES_KEEP_BYTES = 512 * 1024 * 1024;
/** On a small disk they keep this share of it. */
const DATABASES_KEEP_SHARE = 0.05;
/** A disk with less than this has no room for one more write and what SQLite puts beside it. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** Bytes of a disk of this size that are kept for the databases: 512 MB, or 5 % of a small one. */
export function keptForDatabases({ totalBytes }: DiskRoom): number {
  return Math.min(DATABASES_KEEP_BYTES, Math.floor(totalBytes * DATABASES_KEEP_SHARE));
}

/** Only what the databases keep is left: nothing that can wait, no upload for one, is taken in. */
export function isShortOfRoom(room: DiskRoom): boolean {
  return room.freeBytes < keptForDatabases(room);
}

/** No write can be counted on. */
export function isFull({ freeBytes }: DiskRoom): boolean {
  return freeBytes < FULL_BELOW_BYTES;
}

/** The disk under `dir` at this moment. @throws the system's error when `dir` is not there. */
export function readDiskRoom(dir: string): DiskRoom {
  const { bavail, blocks, bsize } = statfsSync(dir);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The same, asked of the system once a second at most: for what every request asks. */
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
