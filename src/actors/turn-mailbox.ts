/**
 * One thing at a time within a turn: what comes in while a commit is under way is held, in order, and done after it.
 *
 * Owns what is held, and when the upstream is asked to wait. Does not own what is done, nor when a commit begins and ends.
 */
import type { ModelRun } from '../assistant/models/model.ts';

/** Model events held while a commit is under way; beyond this the upstream is asked to wait. */
const HELD_EVENTS_PAUSE = 64;

export interface MailboxOwner {
  /** The model's answer that comes in, if one does. */
  upstream(): ModelRun | null;
  /** A bug met on the way: it ends this turn, and no other. */
  failed(error: unknown): void;
}

export class TurnMailbox {
  readonly #owner: MailboxOwner;
  readonly #held: (() => void)[] = [];
  #isHolding = false;
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

  /** Now, or after the commit under way; never once the turn has ended. */
  do(task: () => void): void {
    if (this.#isClosed) return;
    if (!this.#isHolding) {
      this.#run(task);
      return;
    }
    this.#held.push(task);
    if (this.#held.length > HELD_EVENTS_PAUSE && !this.#isPaused) {
      this.#isPaused = true;
      this.#owner.upstream()?.pause();
    }
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
    if (this.#isPaused && this.#held.length === 0) {
      this.#isPaused = false;
      this.#owner.upstream()?.resume();
    }
  }

  /** The turn has ended: nothing more is done. */
  close(): void {
    this.#isClosed = true;
    this.#held.length = 0;
  }
}
