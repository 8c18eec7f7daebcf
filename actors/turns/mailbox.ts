/**
 * One thing at a time within a turn: what comes in while a commit is under way is held, in order, and done after it.
 *
 * Owns what is held, and when the upstream has to wait: while much is held, while no reader takes anything, or while the turn has used up its
 * share of what long answers may say. Does not own what is done, nor when a commit begins and ends.
 */
import type { ModelRun } from '../../assistant/models/model.ts';
import type { AnswerShare } from './long-answers.ts';

/** Model events held while a commit is under way; beyond this the upstream is asked to wait. */
const HELD_EVENTS_PAUSE = 64;
/** The same for the text in them, in characters: more than a model writes during a commit. What was read from the upstream by then still comes. */
const HELD_CHARS_PAUSE = 2 * 1024;
/** After so many pings the model is read on, however slow the readers are. */
const PINGS_WAITED_MAX = 2;

export interface MailboxOwner {
  /** The model's answer that is being read; null between rounds. */
  upstream(): ModelRun | null;
  /** Called with a bug in a task: it ends this turn, and no other. */
  failed(error: unknown): void;
  /** How much of the upstream it may read. */
  readonly share: AnswerShare;
}

export class TurnMailbox {
  readonly #owner: MailboxOwner;
  readonly #held: (() => void)[] = [];
  #heldChars = 0;
  /** `holding`: a commit is under way. */
  #state: 'free' | 'holding' | 'closed' = 'free';
  /** Too much is held; it stays so until nothing is. */
  #isFull = false;
  #readersLag = false;
  #isImpatient = false;
  /** Pings since a reader last took anything. */
  #pingsWaited = 0;
  #waitsForShare = false;
  #isPaused = false;

  constructor(owner: MailboxOwner) {
    this.#owner = owner;
    owner.share.onShare = () => this.#useShare(false);
  }

  /** Whether the turn is neither committing nor at its end. */
  get isFree(): boolean {
    return this.#state === 'free';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Whether the upstream waits for readers. */
  get waitsForReaders(): boolean {
    return this.#readersLag && !this.#isImpatient;
  }

  /** No reader takes anything, or one does again. */
  readersLag(isLagging: boolean): void {
    this.#readersLag = isLagging;
    this.#settleUpstream();
  }

  /** So many characters were read from the upstream. */
  read(chars: number): void {
    if (!this.#owner.share.take(chars)) this.#useShare(true);
  }

  #useShare(isUsedUp: boolean): void {
    this.#waitsForShare = isUsedUp;
    this.#settleUpstream();
  }

  /**
   * A ping is due. A reader that takes nothing is dropped long before the second ping. One that takes very little must not hold the model's
   * connection for ever: after the second ping the turn goes on without waiting, and its readers find it in rows.
   */
  pinged(): void {
    this.#pingsWaited = this.waitsForReaders ? this.#pingsWaited + 1 : 0;
    if (this.#pingsWaited < PINGS_WAITED_MAX) return;
    this.#isImpatient = true;
    this.#settleUpstream();
  }

  /** Another answer of the model begins. */
  upstreamBegan(): void {
    if (this.#isPaused) this.#owner.upstream()?.pause();
  }

  #settleUpstream(): void {
    const waits = this.#isFull || this.#waitsForShare || this.waitsForReaders;
    if (waits === this.#isPaused || this.#state === 'closed') return;
    this.#isPaused = waits;
    if (waits) this.#owner.upstream()?.pause();
    else this.#owner.upstream()?.resume();
  }

  /** Now, or after the commit under way; never once the turn has ended. `chars`: how much text the task holds. */
  do(task: () => void, chars = 0): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'holding') {
      this.#held.push(task);
      this.#heldChars += chars;
      if (this.#held.length <= HELD_EVENTS_PAUSE && this.#heldChars <= HELD_CHARS_PAUSE) return;
      this.#isFull = true;
      this.#settleUpstream();
      return;
    }
    try {
      task();
    } catch (error) {
      this.#owner.failed(error);
    }
  }

  /** A commit begins. */
  hold(): void {
    if (this.#state === 'free') this.#state = 'holding';
  }

  /** The commit is made: what follows from it comes before what is held. */
  release(): void {
    if (this.#state === 'holding') this.#state = 'free';
  }

  /** Does what is held, until the next commit begins. */
  resume(): void {
    while (this.isFree) {
      const task = this.#held.shift();
      if (task === undefined) break;
      this.do(task);
    }
    if (this.#held.length > 0) return;
    this.#heldChars = 0;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#settleUpstream();
  }

  /** The turn has ended: nothing more is done. */
  close(): void {
    this.#state = 'closed';
    this.#held.length = 0;
  }
}
