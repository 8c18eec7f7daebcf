/**
 * One thing at a time within a turn: what comes in while a commit is under way is held, in order, and done after it.
 *
 * Owns what is held, and when the upstream is asked to wait: while much is held, or while nobody who reads the turn takes what is said. Does not own what is done, nor when a commit begins and ends.
 */
import type { ModelRun } from '../assistant/models/model.ts';

/** Model events held while a commit is under way; beyond this the upstream is asked to wait. */
const HELD_EVENTS_PAUSE = 64;
/** The same for the words in them: about what is said between two commits. */
const HELD_CHARS_PAUSE = 8 * 1024;

export interface MailboxOwner {
  /** The model's answer that comes in, if one does. */
  upstream(): ModelRun | null;
  /** A bug met on the way: it ends this turn, and no other. */
  failed(error: unknown): void;
}

export class TurnMailbox {
  readonly #owner: MailboxOwner;
  readonly #held: (() => void)[] = [];
  #heldChars = 0;
  #isHolding = false;
  /** Too much is held; it stays so until nothing is. */
  #isFull = false;
  #readersLag = false;
  #isImpatient = false;
  #isPaused = false;
  #isClosed = false;

  constructor(owner: MailboxOwner) {
    this.#owner = owner;
  }

  /** Whether the turn is neither committing nor at its end. */
  get isFree(): boolean {
    return !this.#isHolding && !this.#isClosed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the upstream waits for readers. */
  get waitsForReaders(): boolean {
    return this.#readersLag && !this.#isImpatient;
  }

  /** Nobody who reads takes what is said, or somebody does again. */
  readersLag(isLagging: boolean): void {
    this.#readersLag = isLagging;
    this.#settleUpstream();
  }

  /** From now on the turn goes on whether its readers take it or not: they find it in its rows. */
  waitNoMore(): void {
    this.#isImpatient = true;
    this.#settleUpstream();
  }

  /** Another answer of the model's begins to come in. */
  upstreamBegan(): void {
    if (this.#isPaused) this.#owner.upstream()?.pause();
  }

  #settleUpstream(): void {
    const waits = this.#isFull || this.waitsForReaders;
    if (waits === this.#isPaused || this.#isClosed) return;
    this.#isPaused = waits;
    if (waits) this.#owner.upstream()?.pause();
    else this.#owner.upstream()?.resume();
  }

  /** Now, or after the commit under way; never once the turn has ended. `chars`: how much text the task holds. */
  do(task: () => void, chars = 0): void {
    if (this.#isClosed) return;
    if (!this.#isHolding) {
      this.#run(task);
      return;
    }
    this.#held.push(task);
    this.#heldChars += chars;
    if (this.#held.length <= HELD_EVENTS_PAUSE && this.#heldChars <= HELD_CHARS_PAUSE) return;
    this.#isFull = true;
    this.#settleUpstream();
  }

  #run(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#owner.failed(error);
    }
  }

  /** A commit begins. */
  hold(): void {
    this.#isHolding = true;
  }

  /** The commit is made: what follows from it comes before what is held. */
  release(): void {
    this.#isHolding = false;
  }

  /** Does what is held, until the next commit begins. */
  resume(): void {
    while (this.isFree) {
      const task = this.#held.shift();
      if (task === undefined) break;
      this.#run(task);
    }
    if (this.#held.length > 0) return;
    this.#heldChars = 0;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#settleUpstream();
  }

  /** The turn has ended: nothing more is done. */
  close(): void {
    this.#isClosed = true;
    this.#held.length = 0;
  }
}
