/**
 * Whose large body is read next. Keeps one address, and one app, from having everybody else's wait behind theirs: each holds a bounded
 * part of the line, and apps take turns. Knows no threads.
 */

/** Whoever sent a body: an app's address. */
export interface BodySender {
  readonly app: string;
  readonly address: string;
}

/** An address may be an office whose devices start the same build: forty of 49 KB, or four of the largest, which take a third of a second. */
export const WAITING_PER_ADDRESS_MAX_BYTES = 2 * 1024 * 1024;
/** One app leaves three quarters to the others. */
export const WAITING_PER_APP_MAX_BYTES = 8 * 1024 * 1024;
/** Of all: sixty-four of the largest. Whoever comes after these waited for some seconds. */
export const WAITING_MAX_BYTES = 32 * 1024 * 1024;

interface Waiting extends BodySender {
  readonly bytes: number;
  readonly begin: () => void;
}

export class BodyQueue {
  #reads = false;
  /** In the order in which their apps take turns. */
  readonly #apps = new Map<string, Waiting[]>();

  /** Resolves when it is the body's turn, which ends with `leave`; undefined: too much waits. */
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
    // Behind the others, who take their turns first.
    this.#apps.delete(app);
    if (own.length > 0) this.#apps.set(app, own);
    this.#reads = true;
    next?.begin();
  }
}
