/**
 * The line in front of what is begun: a turn's start takes a millisecond or two of the event loop, and some hundred of them may come at
 * once. Of each turn of the loop they get a slice; what else came (the console, setup, answers, a "no") is done before the rest of them.
 * It owns who waits, in which order they come, and when there is no room for more.
 *
 * Organisations take turns, so one that sends more than its share waits for itself.
 */
import { type ThreadTime, threadClock } from './thread-time.ts';

/**
 * What starts get of one turn of the loop: some handful, or half as long as all else took, so that streams that fill the loop leave a
 * third of it. What comes meanwhile waits for no more than this and what streams take.
 */
const SLICE_MIN_MS = 10;
const SLICE_MAX_MS = 25;
/**
 * So much of the thread's own time: longer and whoever waits would rather be told to come again; a start takes about as long again once
 * it is its turn. What a busy machine adds is no reason to refuse what can be done.
 */
export const START_WAIT_MAX_MS = 500;
/** They are done within a second or so; each holds its body, of some kilobytes as a rule. */
export const STARTS_WAITING_MAX = 320;
/** One organisation leaves places for others. */
export const STARTS_OF_ONE_MAX = 240;
/** How many are begun is told of the last whole one of these. */
const RATE_WINDOW_MS = 1_000;
/** Turns that were entered and have not begun, for the most part because their rows are not written: more of them only make larger groups. */
export const OPENING_AT_ONCE_MAX = 128;
/** How soon it is looked again whether some of those have begun. */
const HELD_BACK_MS = 5;
/** Refusals that follow each other within this are one time of being overloaded. */
const CALM_MS = 1_000;

interface Waiting {
  /** Of the thread's own time. */
  readonly sinceMs: number;
  work(): void;
}

export interface StartStats {
  readonly waiting: number;
  readonly refused: number;
  /** Begun in the last second or two, for one second. */
  readonly perSecond: number;
  /** Somebody was refused within the last second. */
  readonly isRefusing: boolean;
}

export interface StartsOptions {
  readonly log?: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Only ever rises. Tests give their own. */
  readonly nowMs?: () => number;
  /** Calls after the loop has looked at what came. Tests give their own. */
  readonly later?: (work: () => void) => void;
  /** Turns that were entered and have not begun; absent: nobody counts. */
  readonly opening?: () => number;
  readonly threadTime?: () => Pick<ThreadTime, 'ranMs'>;
}

export class Starts {
  readonly #log: StartsOptions['log'];
  readonly #nowMs: () => number;
  readonly #later: (work: () => void) => void;
  readonly #ranMs: () => number;
  readonly #opening: () => number;
  /** By organisation; who comes next is first. Empty lines are not kept. */
  readonly #lines = new Map<string, Waiting[]>();
  #waiting = 0;
  #spentMs = 0;
  #sliceMs = SLICE_MIN_MS;
  /** When the last slice ended. */
  #endedMs = 0;
  #isPlanned = false;
  #refused = 0;
  readonly #rate = { fromMs: 0, now: 0, before: 0 };
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  /** When the present time of refusing began; null: nobody is refused. */
  #refusingSinceMs: number | null = null;

  constructor({
    log,
    nowMs = () => performance.now(),
    later = setImmediate,
    threadTime = threadClock(),
    opening = () => 0,
  }: StartsOptions = {}) {
    this.#opening = opening;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#later = later;
    this.#ranMs = () => threadTime().ranMs;
  }

  /** Whether one more of the organisation may come; undefined: of any. A "no" is counted. */
  admits(organisationId?: string): boolean {
    const line = organisationId === undefined ? undefined : this.#lines.get(organisationId);
    const isOld = line?.[0] !== undefined && this.#ranMs() - line[0].sinceMs > START_WAIT_MAX_MS;
    if (this.#waiting < STARTS_WAITING_MAX && !isOld && (line?.length ?? 0) < STARTS_OF_ONE_MAX) return true;
    this.#refuse();
    return false;
  }

  /** Does `work`, which must not throw: now while there is something left of the slice and nobody waits, else in its turn. */
  enter(organisationId: string, work: () => void): void {
    if (this.#waiting === 0 && this.#mayGoOn()) {
      this.#do(work);
      this.#plan();
      return;
    }
    const line = this.#lines.get(organisationId);
    const waiting = { sinceMs: this.#ranMs(), work };
    if (line === undefined) this.#lines.set(organisationId, [waiting]);
    else line.push(waiting);
    this.#waiting += 1;
    this.#plan();
  }

  stats(): StartStats {
    const nowMs = this.#nowMs();
    this.#turnRate(nowMs);
    const perSecond = Math.max(this.#rate.now, this.#rate.before);
    return { waiting: this.#waiting, refused: this.#refused, perSecond, isRefusing: nowMs - this.#refusedAtMs < CALM_MS };
  }

  #turnRate(nowMs: number): void {
    const sinceMs = nowMs - this.#rate.fromMs;
    if (sinceMs < RATE_WINDOW_MS) return;
    this.#rate.before = sinceMs < 2 * RATE_WINDOW_MS ? this.#rate.now : 0;
    this.#rate.now = 0;
    this.#rate.fromMs = nowMs;
  }

  #do(work: () => void): void {
    const beganMs = this.#nowMs();
    this.#turnRate(beganMs);
    this.#rate.now += 1;
    work();
    this.#spentMs += this.#nowMs() - beganMs;
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#later(() => {
      this.#isPlanned = false;
      this.#sliceMs = Math.min(SLICE_MAX_MS, Math.max(SLICE_MIN_MS, (this.#nowMs() - this.#endedMs) / 2));
      this.#spentMs = 0;
      while (this.#waiting > 0 && this.#mayGoOn()) this.#do(this.#next());
      this.#endedMs = this.#nowMs();
      // What was spent here is not to be spent again by what the loop brings next.
      if (this.#spentMs > 0) this.#plan();
      // Not in each turn of a loop that has nothing else to do but wait for a disk.
      else if (this.#waiting > 0) setTimeout(() => this.#plan(), HELD_BACK_MS);
    });
  }

  #mayGoOn(): boolean {
    return this.#spentMs < this.#sliceMs && this.#opening() < OPENING_AT_ONCE_MAX;
  }

  /** The first of the organisation whose turn it is; it comes last then. */
  #next(): () => void {
    for (const [organisationId, line] of this.#lines) {
      const first = line.shift();
      this.#lines.delete(organisationId);
      if (first === undefined) continue;
      if (line.length > 0) this.#lines.set(organisationId, line);
      this.#waiting -= 1;
      return first.work;
    }
    this.#waiting = 0;
    return () => {};
  }

  #refuse(): void {
    this.#refused += 1;
    this.#refusedAtMs = this.#nowMs();
    if (this.#refusingSinceMs !== null) return;
    this.#refusingSinceMs = this.#refusedAtMs;
    this.#log?.warn(
      { reasons: ['starts_wait'], waiting: this.#waiting },
      'too many turns start at once: some are refused and told when to retry',
    );
    this.#lookWhenOver();
  }

  #lookWhenOver(): void {
    setTimeout(() => {
      const nowMs = this.#nowMs();
      if (nowMs - this.#refusedAtMs < CALM_MS) {
        this.#lookWhenOver();
        return;
      }
      this.#log?.info({ for_ms: Math.round(nowMs - (this.#refusingSinceMs ?? nowMs)) }, 'all new turns are accepted again');
      this.#refusingSinceMs = null;
    }, CALM_MS).unref();
  }
}
