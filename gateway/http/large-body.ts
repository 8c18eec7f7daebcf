/**
 * Reads large bodies of routes that ask for it beside the event loop: checking half a megabyte of which every value is wrong takes a
 * sixth of a second. Owns the thread that does it.
 */
import { Refusal, refusalFrom } from '../../protocol/errors.ts';
import { SideThread, SideThreadBusy } from '../../watch/side-thread.ts';
import { BodyQueue, type BodySender } from './body-queue.ts';
import type { BodyCalls } from './large-body-thread.ts';

/** Of the worst shape some 10 ms of work. */
export const LARGE_BODY_BYTES = 32 * 1024;
/** Half of what the most that may wait takes. */
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
  const line = new BodyQueue();
  // Never on the loop instead: whoever filled the line would have the loop next.
  const busy = () =>
    new Refusal('internal', 'Too many large bodies wait to be read. Send the request again.', { status: 503, retryAfterS: RETRY_AFTER_S });
  return {
    async read(kind, bytes, sender) {
      const turn = line.enter(sender, bytes.byteLength);
      if (turn === undefined) throw busy();
      const copy = new Uint8Array(bytes);
      await turn;
      const read = await thread
        .call(kind, copy)
        .catch((error: unknown) => {
          throw error instanceof SideThreadBusy ? busy() : error;
        })
        .finally(() => line.leave());
      if ('refused' in read) throw refusalFrom(read.refused);
      return read.body;
    },
    close: () => thread.close(),
  };
}
