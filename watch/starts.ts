/**
 * The queue of new turns. Starting a turn takes a millisecond or two of the event loop, and hundreds may arrive at once. Starts get a slice
 * of each loop tick; other work (the console, setup, answers, refusals) runs before the rest of them. Owns who waits, in which order, and
 * when the queue is full.
 *
 * The queue rotates through organisations, so that one that sends more than its share delays only itself.
 */
import { type ThreadTime, threadClock } from './thread-time.ts';

/**
 * The slice of a loop tick for starts: a handful of them, or half as long as all other work took, so that streams that fill the loop leave
 * a third of it. Other work waits for no more than this slice and the streams.
 */
const SLICE_MIN_MS = 10;
const SLICE_MAX_MS = 25;
/**
 * Longest wait, in the thread's own time, before a start is refused; starting then takes about as long again. Delays by other processes are
 * no reason to refuse. Who is refused is told to come back in seconds and goes to the end of the queue, so a wait of that length is the better answer.
 */
export const START_WAIT_MAX_MS = 2_000;
/** They take two to three seconds; each holds its body, usually some kilobytes. */
export const STARTS_WAITING_MAX = 1_200;
/** One organisation must leave places for others. */
export const STARTS_OF_ONE_MAX = 900;
/** The rate of starts is that of the last complete window. */
const RATE_WINDOW_MS = 1_000;
/** Turns that may be opening at once, mostly waiting for their rows to be written; more would only make larger groups. */
export const OPENING_AT_ONCE_MAX = 128;
/** How soon it is checked again whether some of those have begun. */
const HELD_BACK_MS = 5;
/** Refusals closer together than this belong to one period. */
const CALM_MS = 1_000;

interface Waiting {
  /** When it began to wait, in the thread's own time. */
  readonly sinceMs: number;
  work(): void;
}

export interface StartStats {
  readonly waiting: number;
  readonly refused: number;
  /** Starts per second in the last second or two. */
  readonly perSecond: number;
  /** Whether a start was refused within the last second. */
  readonly isRefusing: boolean;
}

export interface StartsOptions {
  readonly log?: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Only ever rises. Tests give their own. */
  readonly nowMs?: () => number;
  /** Defers work until the loop has handled its events. Tests give their own. */
  readonly later?: (work: () => void) => void;
  /** Turns that were entered and have not begun; absent: not counted. */
  readonly opening?: () => number;
  readonly threadTime?: () => Pick<ThreadTime, 'ranMs'>;
}

export class Starts {
  readonly #log: StartsOptions['log'];
  readonly #nowMs: () => number;
  readonly #later: (work: () => void) => void;
  readonly #ranMs: () => number;
  readonly #opening: () => number;
  /** Queues by organisation, the next one first; empty queues are removed. */
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
  /** When the present period of refusals began; null: none. */
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

  /** Whether one more start of the organisation is admitted; undefined: of any. Counts refusals. */
  admits(organisationId?: string): boolean {
    const line = organisationId === undefined ? undefined : this.#lines.get(organisationId);
    const isOld = line?.[0] !== undefined && this.#ranMs() - line[0].sinceMs > START_WAIT_MAX_MS;
    if (this.#waiting < STARTS_WAITING_MAX && !isOld && (line?.length ?? 0) < STARTS_OF_ONE_MAX) return true;
    this.#refuse();
    return false;
  }

  /** Runs `work`, which must not throw: now if the slice has time left and nobody waits, otherwise when it reaches the front. */
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
      // The time spent here counts for the next events, too.
      if (this.#spentMs > 0) this.#plan();
      // Not in each tick of a loop that only waits for a disk.
      else if (this.#waiting > 0) setTimeout(() => this.#plan(), HELD_BACK_MS);
    });
  }

  #mayGoOn(): boolean {
    return this.#spentMs < this.#sliceMs && this.#opening() < OPENING_AT_ONCE_MAX;
  }

  /** The first start of the next organisation, which then moves to the end. */
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
