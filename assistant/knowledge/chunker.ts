/** Cuts knowledge texts into passages, long ones beside the event loop: 200,000 characters of short sentences take a tenth of a second. */
import { setTimeout as pause } from 'node:timers/promises';
import { SideThread, SideThreadBusy } from '../../watch/side-thread.ts';
import { type Chunk, chunkText } from './chunk.ts';
import type { ChunkCalls } from './chunk-thread.ts';

/** Some 10 ms of work for the worst text. */
const LONG_CHARS = 20_000;

/** Some texts are cut meanwhile. */
const RETRY_MS = 100;
/** How long `close` waits for texts under way, each of which takes a tenth of a second. */
const CLOSE_WAIT_MS = 5_000;

export class Chunker {
  readonly #thread = new SideThread<ChunkCalls>(new URL('./chunk-thread.js', import.meta.url), 'chunks');
  readonly #pending = new Set<Promise<unknown>>();
  #closed = false;

  /** As `chunkText`. When too many wait, it waits longer: whoever filled the thread would have the loop next. */
  async chunk(text: string): Promise<readonly Chunk[]> {
    if (text.length <= LONG_CHARS) return chunkText(text);
    const cut = this.#cut(text);
    this.#pending.add(cut);
    try {
      return await cut;
    } finally {
      this.#pending.delete(cut);
    }
  }

  async close(): Promise<void> {
    const late = new AbortController();
    await Promise.race([Promise.allSettled(this.#pending), pause(CLOSE_WAIT_MS, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
    this.#closed = true;
    await this.#thread.close();
  }

  async #cut(text: string): Promise<readonly Chunk[]> {
    for (;;) {
      try {
        return await this.#thread.call('chunk', text);
      } catch (error) {
        if (!(error instanceof SideThreadBusy)) throw error;
        // The process ends: no text is lost for that.
        if (this.#closed) return chunkText(text);
        await pause(RETRY_MS);
      }
    }
  }
}
