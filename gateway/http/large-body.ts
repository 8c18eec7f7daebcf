/**
 * Reads large bodies in a thread of its own, for routes that ask for it: checking half a megabyte in which every value is wrong takes a
 * sixth of a second. Owns the thread.
 */
import { Refusal, refusalFrom } from '../../protocol/errors.ts';
import { SideThread, SideThreadBusy } from '../../watch/side-thread.ts';
import { BodyQueue, type BodySender } from './body-queue.ts';
import type { BodyCalls } from './large-body-thread.ts';

/** Larger bodies are read in the thread. One of this size takes the event loop some 10 ms at most, in the worst shape. */
export const LARGE_BODY_BYTES = 32 * 1024;
/** By then a full queue is half empty. */
const RETRY_AFTER_S = 5;

/** What is read there, by the name that its route says. */
export type LargeBodyKind = keyof BodyCalls;

export interface LargeBodies {
  /**
   * What `parseJson` and `checkBody` make of the bytes, which are copied before it returns.
   * @throws the same Refusal as they do; Refusal 503 when too many wait, of this sender or of all.
   */
  read(kind: LargeBodyKind, bytes: Uint8Array, sender: BodySender): Promise<unknown>;
  close(): Promise<void>;
}

export function createLargeBodies(): LargeBodies {
  const thread = new SideThread<BodyCalls>(new URL('./large-body-thread.js', import.meta.url), 'bodies');
  const queue = new BodyQueue();
  // Never falls back to the event loop: a client that filled the queue would block the loop next.
  const busy = () =>
    new Refusal('internal', 'Too many large bodies wait to be read. Send the request again.', { status: 503, retryAfterS: RETRY_AFTER_S });
  return {
    async read(kind, bytes, sender) {
      const entered = queue.enter(sender, bytes.byteLength);
      if (entered === undefined) throw busy();
      const copy = new Uint8Array(bytes);
      await entered;
      const read = await thread
        .call(kind, copy)
        .catch((error: unknown) => {
          throw error instanceof SideThreadBusy ? busy() : error;
        })
        .finally(() => queue.leave());
      if ('refused' in read) throw refusalFrom(read.refused);
      return read.body;
    },
    close: () => thread.close(),
  };
}
