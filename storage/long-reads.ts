/**
 * Reads that grow with an organisation and that no index bounds. They run in their own thread on their own connections, so that they never
 * block the event loop.
 */
import { LRUCache } from 'lru-cache';
import { SideThread, SideThreadBusy } from '../watch/side-thread.ts';
import { isStorageErrorCode, StorageError } from './sqlite/storage-error.ts';

/** A count, and the processor time that it took, which, unlike wall time, does not grow on a busy machine. */
export type LongReads = { countUsers(read: { path: string; nowMs: number }): { users: number; tookMs: number } };

/** Answers that took at least this long are cached; a small organisation's answers are always fresh. */
const KEPT_FROM_MS = 200;
const KEPT_TIMES = 10;
const KEPT_MAX_MS = 60_000;
/** One number each. */
const KEPT_MAX = 1_000;

export class LongReader {
  readonly #kept = new LRUCache<string, number>({ max: KEPT_MAX });
  readonly #thread = new SideThread<LongReads>(new URL('./long-reads-thread.js', import.meta.url), 'long reads');

  /**
   * Users of the file at `path`, whose schema must be current. Waiting reads of one file are made once. The answer of a long read is cached
   * for ten times its duration, a minute at most.
   * @throws StorageError `overloaded` when too many wait or the thread died; otherwise as a synchronous read.
   */
  async countUsers(path: string, nowMs: number): Promise<number> {
    try {
      const known = this.#kept.get(path);
      if (known !== undefined) return known;
      const { users, tookMs } = await this.#thread.call('countUsers', { path, nowMs }, path);
      if (tookMs >= KEPT_FROM_MS) this.#kept.set(path, users, { ttl: Math.min(KEPT_MAX_MS, Math.ceil(tookMs * KEPT_TIMES)) });
      return users;
    } catch (error) {
      if (error instanceof SideThreadBusy) throw new StorageError('overloaded', `users were not counted: ${error.message}`);
      const { code, message } = error as { code?: unknown; message: string };
      throw isStorageErrorCode(code) ? new StorageError(code, message) : error;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
