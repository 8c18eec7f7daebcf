/**
 * The readers of one source of frames. It wakes them together at the end of the loop tick, and reports when none of them takes frames, so that
 * the writer of the source can wait. A reader is a callback: what it reads, and how far it is, is not known here.
 */

export interface ReadersHooks {
  /** The readers are about to be woken. */
  waking?(): void;
  /** They were woken: a reader that has not read by now is behind. */
  woken?(): void;
  /** The first reader came. */
  came?(): void;
  /** The last reader has left. */
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
  readonly #slow = new Set<object>();
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
