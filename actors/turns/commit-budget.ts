/**
 * How many commits of answers a process may have under way, and how many characters they may hold, for all turns together.
 *
 * Owns the count, and the commits that wait, in the order in which they came. Does not own the commits themselves.
 * Invariant: a commit that waits is admitted, at the latest when no other one is under way.
 */

/**
 * Each character is in memory some ten times on its way (events, journal, blocks, the clone for the writer's thread, and there again), which
 * makes 3 MB. Commits of an ordinary load use a tenth of it.
 */
const UNDER_WAY_MAX_CHARS = 256_000;
/** So little waits for no character, so that the end of a short answer does not queue behind long ones. */
const ALWAYS_ADMITTED_CHARS = 2_000;
/**
 * Half of what the writer takes before it refuses (`WRITES_QUEUED_MAX`). Thousands of answers may end at once: what a person has read already
 * must not be refused, so it waits here, and other writes find room.
 */
export const UNDER_WAY_MAX_COMMITS = 4_096;

interface Waiter {
  readonly chars: number;
  admit(): void;
}

export class CommitBudget {
  readonly #maxChars: number;
  readonly #maxCommits: number;
  #chars = 0;
  #commits = 0;
  /** A set keeps its order, and removing the first costs the same however many wait. */
  readonly #waiting = new Set<Waiter>();

  constructor(maxChars = UNDER_WAY_MAX_CHARS, maxCommits = UNDER_WAY_MAX_COMMITS) {
    this.#maxChars = maxChars;
    this.#maxCommits = maxCommits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Admits so many characters; a promise when they have to wait. */
  #enter(chars: number): Promise<void> | undefined {
    if (this.#hasRoomFor(chars) && (chars <= ALWAYS_ADMITTED_CHARS || this.#waiting.size === 0)) {
      this.#count(chars);
      return undefined;
    }
    return new Promise((admit) => this.#waiting.add({ chars, admit }));
  }

  #hasRoomFor(chars: number): boolean {
    return this.#commits < this.#maxCommits && (chars <= ALWAYS_ADMITTED_CHARS || this.#chars < this.#maxChars);
  }

  #count(chars: number): void {
    this.#chars += chars;
    this.#commits += 1;
  }

  #leave(chars: number): void {
    this.#chars -= chars;
    this.#commits -= 1;
    for (const waiter of this.#waiting) {
      if (!this.#hasRoomFor(waiter.chars)) return;
      this.#waiting.delete(waiter);
      this.#count(waiter.chars);
      waiter.admit();
    }
  }

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
