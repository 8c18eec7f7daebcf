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
/** Why the upstream waits: too much is held, its share is used up, no reader takes anything. */
type Reason = 'full' | 'share' | 'readers';
/** After so many pings the model is read on, however slow the readers are. */
const PINGS_WAITED_MAX = 2;

export interface MailboxOwner {
  /** Called with a bug in a task: it ends this turn, and no other. */
  abandon(error: unknown): void;
}

export class TurnMailbox {
  readonly #owner: MailboxOwner;
  readonly share: AnswerShare;
  #upstream: ModelRun | null = null;
  readonly #held: (() => void)[] = [];
  #heldChars = 0;
  /** `holding`: a commit is under way. */
  #state: 'free' | 'holding' | 'closed' = 'free';
  /** The upstream waits while there is any. */
  readonly #reasons = new Set<Reason>();
  /** Pings since a reader last took anything; at most PINGS_WAITED_MAX, where it stays. */
  #pingsWaited = 0;

  constructor(owner: MailboxOwner, share: AnswerShare) {
    this.#owner = owner;
    this.share = share;
    share.onShare = () => this.#wait('share', false);
  }

  /** The model's answer that is being read; null between rounds. */
  get upstream(): ModelRun | null {
    return this.#upstream;
  }

  /** One that begins waits at once where there is a reason. */
  set upstream(run: ModelRun | null) {
    this.#upstream = run;
    if (this.#reasons.size > 0) run?.pause();
  }

  get isFree(): boolean {
    return this.#state === 'free';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Whether the turn has waited for its readers as long as it may: it does so no more. */
  get #isImpatient(): boolean {
    return this.#pingsWaited === PINGS_WAITED_MAX;
  }

  readersLag(isLagging: boolean): void {
    this.#wait('readers', isLagging && !this.#isImpatient);
  }

  read(chars: number): void {
    if (!this.share.take(chars)) this.#wait('share', true);
  }

  /**
   * A ping is due. A reader that takes nothing is dropped long before the second ping. One that takes very little must not hold the model's
   * connection for ever: after the second ping the turn goes on without waiting, and its readers find it in rows.
   */
  pinged(): void {
    if (this.#isImpatient) return;
    this.#pingsWaited = this.#reasons.has('readers') ? this.#pingsWaited + 1 : 0;
    if (this.#isImpatient) this.#wait('readers', false);
  }

  #wait(reason: Reason, isGiven: boolean): void {
    const waited = this.#reasons.size > 0;
    if (isGiven) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
    const waits = this.#reasons.size > 0;
    if (waits === waited || this.#state === 'closed') return;
    if (waits) this.#upstream?.pause();
    else this.#upstream?.resume();
  }

  /** Now, or after the commit under way; never once the turn has ended. `chars`: how much text the task holds. */
  do(task: () => void, chars = 0): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'holding') {
      this.#held.push(task);
      this.#heldChars += chars;
      if (this.#held.length > HELD_EVENTS_PAUSE || this.#heldChars > HELD_CHARS_PAUSE) this.#wait('full', true);
      return;
    }
    try {
      task();
    } catch (error) {
      this.#owner.abandon(error);
    }
  }

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
    this.#wait('full', false);
  }

  /** The turn has ended: nothing more is done or read. */
  close(): void {
    this.#state = 'closed';
    this.#held.length = 0;
    this.share.leave();
    this.#upstream?.abort();
  }
}
