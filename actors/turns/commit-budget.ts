/**
 * How much of what models said may be on its way into rows at once in one process, all turns together.
 *
 * Owns: the count of it, and who waits to commit, in the order in which they came. Does not own the commits: they are done within it.
 * Invariant: who waits is admitted, at the latest when nobody is under way any more.
 */

/**
 * Characters. Each is in memory some ten times on its way (as events, as journal, as blocks, cloned for the writer's thread, there again):
 * 3 MB. Everyday commits under way come to a tenth of it.
 */
const UNDER_WAY_MAX_CHARS = 256_000;
/** So little never waits: the end of a short answer is not to queue behind long ones. */
const ALWAYS_ADMITTED_CHARS = 2_000;

interface Waiter {
  readonly chars: number;
  admit(): void;
}

export class CommitBudget {
  readonly #maxChars: number;
  #chars = 0;
  /** A set keeps the order in which it was filled, and gives up its first in no time however long it is. */
  readonly #waiting = new Set<Waiter>();

  constructor(maxChars = UNDER_WAY_MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  /** Commits that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes so many characters in, or answers what settles when it has. */
  #enter(chars: number): Promise<void> | undefined {
    if (chars <= ALWAYS_ADMITTED_CHARS || (this.#chars < this.#maxChars && this.#waiting.size === 0)) {
      this.#chars += chars;
      return undefined;
    }
    return new Promise((admit) => this.#waiting.add({ chars, admit }));
  }

  #leave(chars: number): void {
    this.#chars -= chars;
    for (const waiter of this.#waiting) {
      if (this.#chars >= this.#maxChars) return;
      this.#waiting.delete(waiter);
      this.#chars += waiter.chars;
      waiter.admit();
    }
  }

  /** Does `work`, which commits so many characters, as soon as there is room. */
  async within<T>(chars: number, work: () => Promise<T>): Promise<T> {
    const admitted = this.#enter(chars);
    if (admitted !== undefined) await admitted;
    try {
      return await work();
    } finally {
      this.#leave(chars);
    }
  }
}
