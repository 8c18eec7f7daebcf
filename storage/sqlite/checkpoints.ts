/** When the writer moves pages from a file's write-ahead log into the file: after answers have left, so that no COMMIT waits for it. */
import { LRUCache } from 'lru-cache';
import type { Connection } from './connection.ts';

/** A write of a turn has some 3 pages, so the log has some 3,000 by then: 12 MB, less than is kept of it. */
const WRITES_MAX = 1_000;
/** Files whose writes are counted, many more than are open at a time. The log of one that is forgotten is bounded by what a COMMIT does itself. */
const FILES_MAX = 10_000;

/** Has no COMMIT of this connection make a checkpoint: the program that replicates the file makes them (REPLICA-3). */
export function leaveCheckpoints(connection: Connection): void {
  connection.exec('PRAGMA wal_autocheckpoint = 0');
}

/** The checkpoints of all files of the writer. `replicated`: another program makes them, which loses what it has not read of a log that is cut. */
export class Checkpoints {
  readonly #replicated: boolean;
  /** Writes since the last checkpoint, by path: a file that is closed and opened again goes on counting. */
  readonly #writes = new LRUCache<string, number>({ max: FILES_MAX });

  constructor(replicated: boolean) {
    this.#replicated = replicated;
  }

  /** To be called when the answers of a group have left. Large writes do not count as more: the bound that a COMMIT has itself is for them. */
  afterGroup(connection: Connection, writes: number): void {
    if (this.#replicated) return;
    const { path } = connection;
    const sum = (this.#writes.get(path) ?? 0) + writes;
    this.#writes.set(path, sum < WRITES_MAX ? sum : 0);
    if (sum < WRITES_MAX) return;
    try {
      // Passive: what a reader still needs waits in the log until the next one.
      connection.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
    } catch {
      // The rows are safe in the log. A disk that refuses shows with the next write.
    }
  }
}
