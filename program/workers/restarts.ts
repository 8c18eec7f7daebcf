/**
 * When workers that ended unasked are started again. Each has a pause of its own, so that one that cannot start costs little; all of
 * them together have a bound, so that somebody serves: while none does and none is on its way up, one does not wait for its turn.
 * Owns the timers; starts nothing itself.
 */

/** All in milliseconds. */
export interface RestartTimes {
  /** Before a worker that ended is started again: the first time, doubling up to one of the longest below. */
  readonly firstBackOffMs: number;
  /** Of one that ended before it listened: it costs a core for a second each time and will hardly start the next time. */
  readonly longestBackOffMs: number;
  /** Of one that listened before it ended: it can start, and is missed. About what a start takes, so that one that dies at once leaves half of a core to others. */
  readonly longestServedBackOffMs: number;
  /** While none serves: how long may pass between the end of a start that failed and the next one, of whichever worker. */
  readonly longestOutageBackOffMs: number;
  /** A worker that lived this long had no trouble: the next pause is the first one again. */
  readonly settledMs: number;
}

/** Time as it passes; tests bring their own. */
export interface RestartClock {
  nowMs(): number;
  /** Does `work` after `ms`; the answer takes that back. */
  after(ms: number, work: () => void): () => void;
}

export const MONOTONIC_CLOCK: RestartClock = {
  nowMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** What a worker tells of itself. */
export interface Place {
  starting(): void;
  serving(): void;
  /** It ended unasked, and is started again after the answer, in ms. */
  ended(): number;
  /** It was asked to end, or is not to be started: nothing is due any more. */
  away(): void;
}

interface Seat {
  phase: 'away' | 'starting' | 'serving' | 'waiting';
  /** Short lives in a row. */
  ends: number;
  startedAtMs: number;
  dueAtMs: number;
  cancel: () => void;
  readonly start: () => void;
}

/** How long to wait after `ends` ends in a row (1 and on), in ms. */
export function backOffMs(ends: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** (ends - 1), longestMs);
}

export class Restarts {
  readonly #times: RestartTimes;
  readonly #clock: RestartClock;
  readonly #seats: Seat[] = [];
  /** Starts in a row that failed while nobody served. */
  #failedStarts = 0;

  constructor(times: RestartTimes, clock: RestartClock = MONOTONIC_CLOCK) {
    this.#times = times;
    this.#clock = clock;
  }

  /** `start` starts the worker again, which then says `starting`. */
  place(start: () => void): Place {
    const seat: Seat = { phase: 'away', ends: 0, startedAtMs: 0, dueAtMs: 0, cancel: () => {}, start };
    this.#seats.push(seat);
    const become = (phase: Seat['phase']) => {
      seat.cancel();
      seat.phase = phase;
    };
    return {
      starting: () => {
        become('starting');
        seat.startedAtMs = this.#clock.nowMs();
      },
      serving: () => {
        become('serving');
        this.#failedStarts = 0;
      },
      ended: () => this.#ended(seat),
      away: () => become('away'),
    };
  }

  #ended(seat: Seat): number {
    const { firstBackOffMs, longestBackOffMs, longestServedBackOffMs, settledMs } = this.#times;
    const nowMs = this.#clock.nowMs();
    const served = seat.phase === 'serving';
    seat.ends = nowMs - seat.startedAtMs >= settledMs ? 1 : seat.ends + 1;
    seat.phase = 'waiting';
    if (served) this.#failedStarts = 0;
    else if (!this.#someIs('serving')) this.#failedStarts += 1;
    this.#schedule(seat, nowMs + backOffMs(seat.ends, firstBackOffMs, served ? longestServedBackOffMs : longestBackOffMs));
    this.#fillGap(nowMs);
    return Math.max(0, Math.round(seat.dueAtMs - nowMs));
  }

  #someIs(phase: Seat['phase']): boolean {
    return this.#seats.some((seat) => seat.phase === phase);
  }

  #schedule(seat: Seat, dueAtMs: number): void {
    seat.cancel();
    seat.dueAtMs = dueAtMs;
    seat.cancel = this.#clock.after(Math.max(0, dueAtMs - this.#clock.nowMs()), seat.start);
  }

  /** While none serves one is started at once; after starts that failed with a pause, so that a service that cannot start does not spin. */
  #fillGap(nowMs: number): void {
    if (this.#someIs('serving') || this.#someIs('starting')) return;
    const { firstBackOffMs, longestOutageBackOffMs } = this.#times;
    const waiting = this.#seats.filter(({ phase }) => phase === 'waiting');
    // Whoever had the least trouble is the likeliest to come up; of equals the one that ended just now, which has said nothing of its pause yet.
    const [next] = waiting.sort((one, other) => one.ends - other.ends || other.dueAtMs - one.dueAtMs);
    const pauseMs = this.#failedStarts === 0 ? 0 : backOffMs(this.#failedStarts, firstBackOffMs, longestOutageBackOffMs);
    if (next !== undefined && nowMs + pauseMs < next.dueAtMs) this.#schedule(next, nowMs + pauseMs);
  }
}
