/**
 * Reads that grow with an organisation and that no index bounds: they run in a thread of their own, on connections of their own, and
 * the event loop waits for none of them. Each is named here, plain data in and out.
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

/** What the thread is sent. */
export interface LongRead<N extends LongReadName = LongReadName> {
  readonly path: string;
  readonly read: N;
  readonly input: Parameters<LongReads[N]>[1];
}

/** What it answers, and how much processor time that took: a busy machine makes no read a long one. */
export interface LongAnswer {
  readonly value: ReturnType<LongReads[LongReadName]>;
  readonly tookMs: number;
}

type ThreadCalls = { read(request: LongRead): LongAnswer };

export interface LongReader {
  /**
   * Reads of the file at `path`, whose schema is up to date. `key`: reads of one key that wait are made once, and what took long is
   * answered again for ten times as long, a minute at most.
   * @throws StorageError `overloaded` when too many wait or the thread died, else as a read of the loop's own would.
   */
  read<N extends LongReadName>(request: LongRead<N>, key: string): Promise<ReturnType<LongReads[N]>>;
  close(): Promise<void>;
}

/** What took long is kept for ten times as long; a small organisation's answers are always of now. */
const KEPT_FROM_MS = 200;
const KEPT_TIMES = 10;
const KEPT_MAX_MS = 60_000;
/** One number each. */
const KEPT_MAX = 1_000;

interface Kept {
  readonly value: ReturnType<LongReads[LongReadName]>;
  readonly untilMs: number;
}

export function createLongReader(): LongReader {
  const kept = new LRUCache<string, Kept>({ max: KEPT_MAX });
  const thread = new SideThread<ThreadCalls>(new URL('./long-reads-thread.js', import.meta.url), 'long reads');
  return {
    async read<N extends LongReadName>(request: LongRead<N>, key: string) {
      try {
        const about = `${request.path} ${request.read} ${key}`;
        const known = kept.get(about);
        // Which read was named decides what comes back.
        if (known !== undefined && performance.now() < known.untilMs) return known.value as ReturnType<LongReads[N]>;
        const { value, tookMs } = await thread.call('read', request, about);
        const keptMs = Math.min(KEPT_MAX_MS, tookMs * KEPT_TIMES);
        if (tookMs >= KEPT_FROM_MS) kept.set(about, { value, untilMs: performance.now() + keptMs });
        return value as ReturnType<LongReads[N]>;
      } catch (error) {
        if (error instanceof SideThreadBusy) throw new StorageError('overloaded', `${request.read} was not read: ${error.message}`);
        const { code, message } = error as { code?: unknown; message: string };
        throw isStorageErrorCode(code) ? new StorageError(code, message) : error;
      }
    },
    close: () => thread.close(),
  };
}
