/** Who reads a turn of another node: wakes them together at the end of a loop tick, and says when the last one has left. */

/** Readers with something new: several messages of one tick wake each of them once, and the node has one callback for all. */
const dirty = new Set<RemoteReaders>();

function flushDirty(): void {
  const all = [...dirty];
  dirty.clear();
  for (const readers of all) readers.flush();
}

export class RemoteReaders {
  readonly #wakes = new Set<() => void>();
  readonly #onLastLeft: () => void;

  constructor(onLastLeft: () => void) {
    this.#onLastLeft = onLastLeft;
  }

  get count(): number {
    return this.#wakes.size;
  }

  add(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => {
      if (this.#wakes.delete(wake) && this.#wakes.size === 0) this.#onLastLeft();
    };
  }

  wake(): void {
    if (dirty.size === 0) setImmediate(flushDirty);
    dirty.add(this);
  }

  flush(): void {
    for (const wake of this.#wakes) wake();
  }
}
