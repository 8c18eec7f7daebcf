/**
 * Limits how fast the turns of a process together read long answers from models.
 *
 * Each turn reads the beginning of its answer as it arrives, and the rest in shares. All shares together are CHARS_PER_S characters a second,
 * more than models write for people who wait. An app with many endless answers therefore cannot use up the time and memory of the process.
 * Owns the shares and the turns that wait for one: apps alternate, and the turns of one app keep their order. Does not own how a turn waits.
 */

/** Longer than most answers. What a waiting turn holds in memory grows with it. */
const BEGINNING_CHARS = 4_000;
/**
 * What usual models write in ten minutes. Endless answers are read one after the other rather than all at once, so that nearly all of them
 * hold nothing new in memory.
 */
const SHARE_CHARS = 64_000;
/** For an answer without readers. The next turn then waits for a quarter of a second. */
const UNREAD_SHARE_CHARS = 256_000;
/**
 * A hundred times what the fastest models write in one answer. Reading, storing and sending so much takes about a third of a core.
 */
const CHARS_PER_S = 1_000_000;
/** What may be read at once after a quiet time, in ms of the above. */
const SAVED_MAX_MS = 250;
/** A reader does not notice that a share came so late. */
const SOON_MS = 250;
/** How often shares are given out while turns wait. */
const LOOK_MS = 20;

export interface LongAnswersOptions {
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
  readonly charsPerS?: number;
  /** Whether what was shared out is still on its way; no more is given then. */
  readonly isBusy?: () => boolean;
}

export class AnswerShare {
  readonly #all: LongAnswers;
  readonly app: string;
  isRead = true;
  #left = BEGINNING_CHARS;
  /** Since when it waits for a share; null while it does not. */
  #askedAtMs: number | null = null;
  /** Since when its shares come late. */
  #lateSinceMs: number | null = null;
  onShare: (() => void) | null = null;

  constructor(all: LongAnswers, app: string) {
    this.#all = all;
    this.app = app;
  }

  /** So much was read. False: nothing more is to be read until `onShare`. */
  take(chars: number): boolean {
    this.#left -= chars;
    if (this.#left > 0) return true;
    if (this.#askedAtMs !== null) return false;
    this.#askedAtMs = this.#all.nowMs();
    this.#all.ask(this);
    return this.#askedAtMs === null;
  }

  /** For how long one share after the other has come late; 0 when the last one came soon. */
  get lateMs(): number {
    const sinceMs = this.#lateSinceMs ?? this.#askedAtMs;
    return sinceMs === null ? 0 : this.#all.nowMs() - sinceMs;
  }

  given(chars: number): void {
    const askedAtMs = this.#askedAtMs ?? 0;
    const isLate = this.#all.nowMs() - askedAtMs > SOON_MS;
    this.#lateSinceMs = isLate ? (this.#lateSinceMs ?? askedAtMs) : null;
    this.#askedAtMs = null;
    this.#left += chars;
    this.onShare?.();
  }

  leave(): void {
    this.onShare = null;
    this.#all.forget(this);
  }
}

export class LongAnswers {
  readonly nowMs: () => number;
  readonly #isBusy: () => boolean;
  readonly #charsPerMs: number;
  readonly #savedMax: number;
  #saved: number;
  #savedAtMs: number;
  /** By app, in the order in which apps are served; sets keep the order in which they were filled. */
  readonly #waiting = new Map<string, Set<AnswerShare>>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ nowMs = () => performance.now(), charsPerS = CHARS_PER_S, isBusy = () => false }: LongAnswersOptions = {}) {
    this.nowMs = nowMs;
    this.#isBusy = isBusy;
    this.#charsPerMs = charsPerS / 1_000;
    this.#savedMax = this.#charsPerMs * SAVED_MAX_MS;
    this.#saved = this.#savedMax;
    this.#savedAtMs = nowMs();
  }

  join(app: string): AnswerShare {
    return new AnswerShare(this, app);
  }

  get waiting(): number {
    let count = 0;
    for (const shares of this.#waiting.values()) count += shares.size;
    return count;
  }

  /** Gives it another one, at once or when it is next. */
  ask(share: AnswerShare): void {
    const shares = this.#waiting.get(share.app);
    if (shares === undefined) this.#waiting.set(share.app, new Set([share]));
    else shares.add(share);
    this.look();
    if (this.#waiting.size > 0) this.#timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  forget(share: AnswerShare): void {
    const shares = this.#waiting.get(share.app);
    if (shares?.delete(share) === true && shares.size === 0) this.#waiting.delete(share.app);
  }

  #save(): void {
    const nowMs = this.nowMs();
    this.#saved = Math.min(this.#savedMax, this.#saved + (nowMs - this.#savedAtMs) * this.#charsPerMs);
    this.#savedAtMs = nowMs;
  }

  /** Shares out what there is by now. A timer calls it while turns wait. */
  look(): void {
    this.#save();
    while (this.#saved > 0 && !this.#isBusy()) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const [app, shares] = next;
      const [share] = shares as Set<AnswerShare>;
      // The app goes behind the others.
      this.#waiting.delete(app);
      if (share === undefined) continue;
      shares.delete(share);
      if (shares.size > 0) this.#waiting.set(app, shares);
      const chars = share.isRead ? SHARE_CHARS : UNREAD_SHARE_CHARS;
      this.#saved -= chars;
      share.given(chars);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
