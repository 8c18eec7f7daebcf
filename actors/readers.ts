/**
 * Who reads one source of frames. Wakes all readers together at the end of the loop tick, and says when none of them takes what is told,
 * so that whoever fills the source can wait. Does not know what they read, nor how far they are: a reader is a callback.
 */

export interface ReadersHooks {
  /** The readers are about to be woken. */
  waking?(): void;
  /** They were: whoever has not read by now is behind. */
  woken?(): void;
  /** The first reader came. */
  came?(): void;
  /** The last reader has left. */
  left?(): void;
  /** No reader takes what is told (true), or one does again or none is left (false). */
  lag?(isLagging: boolean): void;
}

/** Those with something new, woken together: one callback per process and loop tick, not one per stream. */
const dirty = new Set<Readers>();

function flushDirty(): void {
  const all = [...dirty];
  dirty.clear();
  for (const readers of all) readers.flush();
}

export class Readers {
  readonly #wakes = new Set<() => void>();
  readonly #slow = new Set<object>();
  readonly #hooks: ReadersHooks;
  #isLagging = false;

  constructor(hooks: ReadersHooks = {}) {
    this.#hooks = hooks;
  }

  get count(): number {
    return this.#wakes.size;
  }

  /** Whether there are readers that take nothing, and none that does. */
  get isLagging(): boolean {
    return this.#isLagging;
  }

  /** As FrameSource.subscribe. */
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

  /** As FrameSource.slow. */
  slow(reader: object, isSlow: boolean): void {
    if (isSlow) this.#slow.add(reader);
    else this.#slow.delete(reader);
    this.#lookForLag();
  }

  /** Wakes all readers at the end of the loop tick, however often it is called until then. */
  wake(): void {
    if (dirty.size === 0) setImmediate(flushDirty);
    dirty.add(this);
  }

  /** Wakes all readers now. */
  flush(): void {
    this.#hooks.waking?.();
    for (const wake of this.#wakes) wake();
    this.#hooks.woken?.();
  }

  #lookForLag(): void {
    const isLagging = this.#slow.size > 0 && this.#slow.size >= this.#wakes.size;
    if (isLagging === this.#isLagging) return;
    this.#isLagging = isLagging;
    this.#hooks.lag?.(isLagging);
  }
}
