/** The readers of one source, woken together at the end of the loop tick. Reports when none takes frames, so that the writer can wait. */

export interface ReadersHooks {
  waking?(): void;
  /** They were woken: a reader that has not read by now is behind. */
  woken?(): void;
  came?(): void;
  left?(): void;
  /** No reader takes frames (true), or one does again or none is left (false). */
  lag?(isLagging: boolean): void;
}

/** Readers to wake together: one callback per process and loop tick, not one per stream. */
const dirty = new Set<Readers>();

function flushDirty(): void {
  const all = [...dirty];
  dirty.clear();
  for (const readers of all) readers.flush();
}

export class Readers {
  readonly #wakes = new Set<() => void>();
  /** Made with the first: most never are. */
  #slow: Set<object> | undefined;
  readonly #hooks: ReadersHooks;
  #isLagging = false;

  constructor(hooks: ReadersHooks = {}) {
    this.#hooks = hooks;
  }

  get count(): number {
    return this.#wakes.size;
  }

  /** Whether there are readers, and none of them takes frames. */
  get isLagging(): boolean {
    return this.#isLagging;
  }

  add(wake: () => void): () => void {
    const isFirst = this.#wakes.size === 0;
    this.#wakes.add(wake);
    this.#lookForLag();
    if (isFirst) this.#hooks.came?.();
    return () => {
      if (!this.#wakes.delete(wake)) return;
      this.#lookForLag();
      if (this.#wakes.size === 0) this.#hooks.left?.();
    };
  }

  slow(reader: object, isSlow: boolean): void {
    if (!isSlow) this.#slow?.delete(reader);
    else {
      this.#slow ??= new Set();
      this.#slow.add(reader);
    }
    this.#lookForLag();
  }

  /** Wakes all readers at the end of the loop tick, however often it is called until then. */
  wake(): void {
    if (dirty.size === 0) setImmediate(flushDirty);
    dirty.add(this);
  }

  flush(): void {
    this.#hooks.waking?.();
    for (const wake of this.#wakes) wake();
    this.#hooks.woken?.();
  }

  #lookForLag(): void {
    const slow = this.#slow?.size ?? 0;
    const isLagging = slow > 0 && slow >= this.#wakes.size;
    if (isLagging === this.#isLagging) return;
    this.#isLagging = isLagging;
    this.#hooks.lag?.(isLagging);
  }
}
