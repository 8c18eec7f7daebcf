/** When the writer moves pages from a file's write-ahead log into the file: after answers have left, so that no COMMIT waits for it. */
import type { Connection } from './connection.ts';

/** A write of a turn has some 4 pages, so the log has some 4,000 by then: 16 MB, as much as is kept of it. */
const WRITES_MAX = 1_000;

/** The checkpoints of one open file. Large writes do not count as more: the bound that a COMMIT has itself is for them. */
export class Checkpoints {
  readonly #connection: Connection;
  #writes = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** To be called when the answers of a group have left. */
  afterGroup(writes: number): void {
    this.#writes += writes;
    if (this.#writes < WRITES_MAX) return;
    this.#writes = 0;
    try {
      // Passive: what a reader still needs waits in the log until the next one.
      this.#connection.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
    } catch {
      // The rows are safe in the log. A disk that refuses shows with the next write.
    }
  }
}
