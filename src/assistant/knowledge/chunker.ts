/** Cuts knowledge texts into passages, long ones beside the event loop: 200,000 characters of short sentences take a tenth of a second. */
import { SideThread, SideThreadBusy } from '../../watch/side-thread.ts';
import { type Chunk, chunkText } from './chunk.ts';
import type { ChunkCalls } from './chunk-thread.ts';

/** Of the worst text some 10 ms. */
const LONG_CHARS = 20_000;

export class Chunker {
  readonly #thread = new SideThread<ChunkCalls>(new URL('./chunk-thread.js', import.meta.url), 'chunks');

  /** As `chunkText`. When too many wait, or the thread is gone, the text is cut here: no text is lost for it. */
  async chunk(text: string): Promise<readonly Chunk[]> {
    if (text.length <= LONG_CHARS) return chunkText(text);
    try {
      return await this.#thread.call('chunk', text);
    } catch (error) {
      if (error instanceof SideThreadBusy) return chunkText(text);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
