/**
 * The queue of large bodies to read. Each address and each app may hold a bounded part of it, and apps are served in rotation, so that
 * none delays all others. Knows nothing of threads.
 */

/** The sender of a body: an address of an app's clients. */
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

interface Waiting extends BodySender {
  readonly bytes: number;
  readonly begin: () => void;
}

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
