/**
 * Reads that grow with an organisation and that no index bounds. They run in their own thread on their own connections, so that they never
 * block the event loop. Each is named here; input and output are plain data.
 */
import { LRUCache } from 'lru-cache';
import { SideThread, SideThreadBusy } from '../watch/side-thread.ts';
import { countUsers } from './billing/usage.ts';
import type { Connection } from './sqlite/connection.ts';
import { isStorageErrorCode, StorageError } from './sqlite/storage-error.ts';

export const longReads = {
  countUsers: (db: Connection, { nowMs }: { readonly nowMs: number }) => countUsers(db, nowMs),
} as const;

export type LongReads = typeof longReads;
export type LongReadName = keyof LongReads & string;

export interface LongRead<N extends LongReadName = LongReadName> {
  readonly path: string;
  readonly read: N;
  readonly input: Parameters<LongReads[N]>[1];
}

/** The thread's answer and its processor time, which, unlike wall time, does not grow on a busy machine. */
export interface LongAnswer {
  readonly value: ReturnType<LongReads[LongReadName]>;
  readonly tookMs: number;
}

type ThreadCalls = { read(request: LongRead): LongAnswer };

/** Answers that took at least this long are cached; a small organisation's answers are always fresh. */
const KEPT_FROM_MS = 200;
const KEPT_TIMES = 10;
const KEPT_MAX_MS = 60_000;
/** One number each. */
const KEPT_MAX = 1_000;

interface Kept {
  readonly value: ReturnType<LongReads[LongReadName]>;
  readonly untilMs: number;
}

export class LongReader {
  readonly #kept = new LRUCache<string, Kept>({ max: KEPT_MAX });
  readonly #thread = new SideThread<ThreadCalls>(new URL('./long-reads-thread.js', import.meta.url), 'long reads');

  /**
   * Reads the file at `path`, whose schema must be current. Waiting reads of one `key` are made once. The answer of a long read is cached
   * for ten times its duration, a minute at most.
   * @throws StorageError `overloaded` when too many wait or the thread died; otherwise as a synchronous read.
   */
  async read<N extends LongReadName>(request: LongRead<N>, key: string): Promise<ReturnType<LongReads[N]>> {
    try {
      const about = `${request.path} ${request.read} ${key}`;
      const known = this.#kept.get(about);
      // The name of the read determines the type of the answer.
      if (known !== undefined && performance.now() < known.untilMs) return known.value as ReturnType<LongReads[N]>;
      const { value, tookMs } = await this.#thread.call('read', request, about);
      const keptMs = Math.min(KEPT_MAX_MS, tookMs * KEPT_TIMES);
      if (tookMs >= KEPT_FROM_MS) this.#kept.set(about, { value, untilMs: performance.now() + keptMs });
      return value as ReturnType<LongReads[N]>;
    } catch (error) {
      if (error instanceof SideThreadBusy) throw new StorageError('overloaded', `${request.read} was not read: ${error.message}`);
      const { code, message } = error as { code?: unknown; message: string };
      throw isStorageErrorCode(code) ? new StorageError(code, message) : error;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
