/** When the writer moves pages from a file's write-ahead log into the file: after answers have left, so that no COMMIT waits for it. */
import { LRUCache } from 'lru-cache';
import type { Connection } from './connection.ts';
import { logBytes } from './log-emptying.ts';

/** A write of a turn has some 3 pages, so the log has some 3,000 by then: 12 MB, less than is kept of it. */
const WRITES_MAX = 1_000;
/** A log that is longer, by large writes or in a slow reader's time, is moved earlier, so that readers search a short one. */
const LOG_MAX_BYTES = 32 * 1024 * 1024;
/** How often the log's length is asked for, which costs microseconds. */
const LOOK_WRITES = 16;
/** Files whose writes are counted, many more than are open at a time. */
const FILES_MAX = 10_000;

/** The checkpoints of all files of the writer. `replicated`: another program makes them, which loses what it has not read of a log that is cut. */
export class Checkpoints {
  readonly #replicated: boolean;
  /** Writes since the last checkpoint, by path: a file that is closed and opened again goes on counting. */
  readonly #writes = new LRUCache<string, number>({ max: FILES_MAX });

  constructor(replicated: boolean) {
    this.#replicated = replicated;
  }

  /** To be called when the answers of a group have left. @throws SQLite's error when the disk refuses. */
  afterGroup(connection: Connection, writes: number): void {
    if (this.#replicated) return;
    const { path } = connection;
    const sum = (this.#writes.get(path) ?? 0) + writes;
    this.#writes.set(path, sum < WRITES_MAX ? sum : 0);
    // Passive: what a reader still needs waits in the log until the next one.
    const isLookedAt = Math.floor(sum / LOOK_WRITES) > Math.floor((sum - writes) / LOOK_WRITES);
    if (sum >= WRITES_MAX || (isLookedAt && logBytes(path) > LOG_MAX_BYTES)) connection.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
  }
}
