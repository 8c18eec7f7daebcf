/** Reads large bodies in a thread: half a megabyte in which every value is wrong takes a sixth of a second. */
import { Refusal, refusalFrom } from '../../protocol/errors.ts';
import { SideThread, SideThreadBusy } from '../../watch/side-thread.ts';
import type { BodyCalls } from './large-body-thread.ts';

export interface BodySender {
  readonly app: string;
  readonly address: string;
}

/** An address may be an office whose devices start the same build. This is room for forty bodies of 49 KB, or four of the largest, which take a third of a second. */
export const WAITING_PER_ADDRESS_MAX_BYTES = 2 * 1024 * 1024;
/** One app leaves three quarters to the others. */
export const WAITING_PER_APP_MAX_BYTES = 8 * 1024 * 1024;
/** Room for sixty-four of the largest in all. The last of them waits some seconds. */
export const WAITING_MAX_BYTES = 32 * 1024 * 1024;

type Waiting = BodySender & { readonly bytes: number; begin(): void };

export class BodyQueue {
  #reads = false;
  /** In the order of the rotation. */
  readonly #apps = new Map<string, Waiting[]>();

  /** Resolves when the body may be read; call `leave` afterwards. Undefined: the queue is full. */
  enter(sender: BodySender, bytes: number): Promise<void> | undefined {
    const all = [...this.#apps.values()].flat();
    const held = (is: (each: Waiting) => boolean) => all.reduce((sum, each) => sum + (is(each) ? each.bytes : 0), bytes);
    const ofApp = (each: Waiting) => each.app === sender.app;
    if (held(() => true) > WAITING_MAX_BYTES || held(ofApp) > WAITING_PER_APP_MAX_BYTES) return undefined;
    if (held((each) => ofApp(each) && each.address === sender.address) > WAITING_PER_ADDRESS_MAX_BYTES) return undefined;
    return new Promise((begin) => {
      const own = this.#apps.get(sender.app) ?? [];
      own.push({ ...sender, bytes, begin });
      this.#apps.set(sender.app, own);
      this.#next();
    });
  }

  leave(): void {
    this.#reads = false;
    this.#next();
  }

  #next(): void {
    const [first] = this.#apps;
    if (this.#reads || first === undefined) return;
    const [app, own] = first;
    const next = own.shift();
    // Behind the other apps.
    this.#apps.delete(app);
    if (own.length > 0) this.#apps.set(app, own);
    this.#reads = true;
    next?.begin();
  }
}

/** Larger bodies are read in the thread. One of this size takes the event loop some 10 ms at most, in the worst shape. */
export const LARGE_BODY_BYTES = 32 * 1024;
/** By then a full queue is half empty. */
const RETRY_AFTER_S = 5;

export type LargeBodyKind = keyof BodyCalls;

export type LargeBodies = ReturnType<typeof createLargeBodies>;

export function createLargeBodies() {
  const thread = new SideThread<BodyCalls>(new URL('./large-body-thread.js', import.meta.url), 'bodies');
  const queue = new BodyQueue();
  // Never falls back to the event loop: a client that filled the queue would block the loop next.
  const busy = () =>
    new Refusal('internal', 'Too many large bodies wait to be read. Send the request again.', { status: 503, retryAfterS: RETRY_AFTER_S });
  return {
    /** Copies the bytes. @throws Refusal as parseJson and checkBody; 503 when too many wait, of this sender or of all. */
    async read(kind: LargeBodyKind, bytes: Uint8Array, sender: BodySender): Promise<unknown> {
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
