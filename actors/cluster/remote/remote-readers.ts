/** Who reads a turn of another node: wakes them together at the end of a loop tick, and says when all of them lag, and when the last one has left. */

/** Readers with something new: several messages of one tick wake each of them once, and the node has one callback for all. */
const dirty = new Set<RemoteReaders>();

function flushDirty(): void {
  const all = [...dirty];
  dirty.clear();
  for (const readers of all) readers.flush();
}

export class RemoteReaders {
  readonly #wakes = new Set<() => void>();
  readonly #slow = new Set<object>();
  readonly #hears: { left(): void; lag(isLagging: boolean): void };
  /** Whether nobody who reads takes what is told. */
  isLagging = false;

  constructor(hears: { left(): void; lag(isLagging: boolean): void }) {
    this.#hears = hears;
  }

  get count(): number {
    return this.#wakes.size;
  }

  add(wake: () => void): () => void {
    this.#wakes.add(wake);
    this.#lookForLag();
    return () => {
      if (!this.#wakes.delete(wake)) return;
      this.#lookForLag();
      if (this.#wakes.size === 0) this.#hears.left();
    };
  }

  /** As of a FrameSource. */
  slow(reader: object, isSlow: boolean): void {
    if (isSlow) this.#slow.add(reader);
    else this.#slow.delete(reader);
    this.#lookForLag();
  }

  #lookForLag(): void {
    const isLagging = this.#slow.size > 0 && this.#slow.size >= this.#wakes.size;
    if (isLagging === this.isLagging) return;
    this.isLagging = isLagging;
    this.#hears.lag(isLagging);
  }

  wake(): void {
    if (dirty.size === 0) setImmediate(flushDirty);
    dirty.add(this);
  }

  flush(): void {
    for (const wake of this.#wakes) wake();
  }
}
