/** Whose document is parsed next: no asker takes all places, and background work does not delay people. */

export interface Waiter {
  readonly asker: string;
  /** Background work: links that are read for knowledge. */
  readonly inBackground: boolean;
}

/** Waiting documents of one asker: four messages of two PDFs. Background work is not counted; its own queue bounds it. */
export const WAITING_PER_ASKER_MAX = 8;
/** Bound for all askers. A document is loaded only when it has a place, so that waiting costs next to nothing. */
export const WAITING_MAX = 128;

interface Entry extends Waiter {
  readonly begin: () => void;
}

export class Places {
  readonly #size: number;
  readonly #taken: Waiter[] = [];
  #waiting: Entry[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  get taken(): number {
    return this.#taken.length;
  }

  hasRoom({ asker, inBackground }: Waiter, count = 1): boolean {
    if (this.#waiting.length + count > WAITING_MAX) return false;
    if (inBackground) return true;
    return this.#waiting.filter((entry) => entry.asker === asker && !entry.inBackground).length + count <= WAITING_PER_ASKER_MAX;
  }

  /** Resolves with a place, to be given back once; undefined when too many wait. @throws the reason of `signal`. */
  async take(waiter: Waiter, signal?: AbortSignal): Promise<(() => void) | undefined> {
    signal?.throwIfAborted();
    if (!this.hasRoom(waiter)) return undefined;
    const entry = await this.#wait(waiter, signal);
    return () => {
      this.#taken.splice(this.#taken.indexOf(entry), 1);
      this.#pump();
    };
  }

  #wait(waiter: Waiter, signal: AbortSignal | undefined): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve(entry);
      };
      const entry: Entry = { ...waiter, begin };
      const leave = () => {
        this.#waiting = this.#waiting.filter((each) => each !== entry);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(entry);
      this.#pump();
    });
  }

  #held(is: (waiter: Waiter) => boolean): number {
    return this.#taken.filter(is).length;
  }

  /** An asker who holds a place leaves the last free one to others, and so does the background as a whole. */
  #mayBegin({ asker, inBackground }: Waiter): boolean {
    const free = this.#size - this.#taken.length;
    if (free <= 0) return false;
    if (free > 1) return true;
    if (inBackground && this.#held((each) => each.inBackground) > 0) return false;
    return this.#held((each) => each.asker === asker) === 0;
  }

  /** People before the background, then whoever holds least, then whoever came first. */
  #next(): Entry | undefined {
    let best: { readonly entry: Entry; readonly rank: number } | undefined;
    for (const entry of this.#waiting) {
      if (!this.#mayBegin(entry)) continue;
      const rank = this.#held((each) => each.asker === entry.asker) + (entry.inBackground ? this.#size : 0);
      if (best === undefined || rank < best.rank) best = { entry, rank };
    }
    return best?.entry;
  }

  #pump(): void {
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      this.#taken.push(entry);
      this.#waiting.splice(this.#waiting.indexOf(entry), 1);
      entry.begin();
    }
  }
}
