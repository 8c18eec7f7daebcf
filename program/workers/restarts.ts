/**
 * When workers that ended unasked are started again. Each has its own back-off, so that one that cannot start costs little. While no worker
 * serves or is starting, one is started without its full back-off. Owns the timers; starts nothing itself.
 */

/** All in milliseconds. */
export interface RestartTimes {
  /** Before a worker that ended is started again: the first time, doubling up to one of the longest below. */
  readonly firstBackOffMs: number;
  /** For a worker that ended before it listened: each start costs a core for a second and will probably fail again. */
  readonly longestBackOffMs: number;
  /** For a worker that listened before it ended: it can start, and is needed. About the duration of a start, so that one that dies at once uses half a core. */
  readonly longestServedBackOffMs: number;
  /** While none serves: the longest time between a failed start and the next one, of any worker. */
  readonly longestOutageBackOffMs: number;
  /** A worker that ran this long was healthy: its back-off starts over. */
  readonly settledMs: number;
}

/** Time as it passes; tests bring their own. */
export interface RestartClock {
  nowMs(): number;
  /** Runs `work` after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void;
}

export const MONOTONIC_CLOCK: RestartClock = {
  nowMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** A worker's reports. */
export interface Place {
  starting(): void;
  serving(): void;
  /** It ended unasked; returns after how many ms it is started again. */
  ended(): number;
  /** It was asked to end, or must not be started: cancels its restart. */
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

  get isServed(): boolean {
    return this.#someIs('serving');
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
