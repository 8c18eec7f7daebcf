/**
 * When a neighbour that does not answer counts as silent. Pure: time comes in. It owns the one trap here: a process that was itself
 * paused or held up finds all its neighbours' answers overdue, though they are in its own socket and not read yet. So time that this
 * process did not live through does not count.
 */

/** Alive: answers. Silent: its process is there and does not answer (paused, stuck). Gone: its socket is closed or refuses. */
export type Liveness = 'alive' | 'silent' | 'gone';

export interface HeartbeatTimes {
  /** Between two questions. */
  readonly pingMs: number;
  /** Without an answer for so long: silent. */
  readonly silentMs: number;
}

/** A paused node is to be noticed within 3 s (CLUSTER-8); a loop that is held up for over 2 s is as good as paused. */
export const HEARTBEAT_TIMES: HeartbeatTimes = { pingMs: 500, silentMs: 2_000 };

/** A process that missed so much may have been given up: with the time between two looks it comes near `silentMs`. */
export const STOOD_STILL_MS = 1_000;

/** Tells how much of the time between two ticks was missed by this process. */
export class OwnClock {
  readonly #pingMs: number;
  #lastMs: number;

  constructor(times: HeartbeatTimes, nowMs: number) {
    this.#pingMs = times.pingMs;
    this.#lastMs = nowMs;
  }

  /** To be called every `pingMs`. Answers the time in ms beyond that, 0 when it came in time. */
  tick(nowMs: number): number {
    const missedMs = Math.max(0, nowMs - this.#lastMs - this.#pingMs);
    this.#lastMs = nowMs;
    return missedMs;
  }
}

/** One neighbour's answers. */
export class Heartbeat {
  readonly #silentMs: number;
  #heardAtMs: number;
  #isSilent = false;

  constructor(times: HeartbeatTimes, nowMs: number) {
    this.#silentMs = times.silentMs;
    this.#heardAtMs = nowMs;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** One that was silent is alive again. */
  heard(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#isSilent = false;
  }

  /** Looks again. True once each time that it falls silent. */
  fellSilent(nowMs: number, missedMs: number): boolean {
    this.#heardAtMs = Math.min(nowMs, this.#heardAtMs + missedMs);
    if (this.#isSilent || nowMs - this.#heardAtMs < this.#silentMs) return false;
    this.#isSilent = true;
    return true;
  }
}
