/**
 * How many characters of answers the commits of a process may hold at once, for all turns together.
 *
 * Owns the count, and the commits that wait, in the order in which they came. Does not own the commits themselves.
 * Invariant: a commit that waits is admitted, at the latest when no other one is under way.
 */

/**
 * Each character is in memory some ten times on its way (events, journal, blocks, the clone for the writer's thread, and there again), which
 * makes 3 MB. Commits of an ordinary load use a tenth of it.
 */
const UNDER_WAY_MAX_CHARS = 256_000;
/** So little never waits, so that the end of a short answer does not queue behind long ones. */
const ALWAYS_ADMITTED_CHARS = 2_000;

interface Waiter {
  readonly chars: number;
  admit(): void;
}

export class CommitBudget {
  readonly #maxChars: number;
  #chars = 0;
  /** A set keeps its order, and removing the first costs the same however many wait. */
  readonly #waiting = new Set<Waiter>();

  constructor(maxChars = UNDER_WAY_MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  /** Commits that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Admits so many characters; a promise when they have to wait. */
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

  /** Does `work`, which commits so many characters, as soon as the budget allows. */
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
