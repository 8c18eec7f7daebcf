/**
 * Decides when a neighbour that does not answer counts as silent. Pure: the time is passed in. A process that was itself paused finds all
 * answers overdue, although they wait unread in its own socket. So time during which this process did not run does not count.
 */

/** Alive: answers. Silent: its process is there and does not answer (paused, stuck). Gone: its socket is closed or refuses. */
export type Liveness = 'alive' | 'silent' | 'gone';

export interface HeartbeatTimes {
  /** Between two questions. */
  readonly pingMs: number;
  /** Without an answer for so long: silent. */
  readonly silentMs: number;
}

/** A paused node must be noticed within 3 s (CLUSTER-8); an event loop that is blocked for over 2 s counts as paused. */
export const HEARTBEAT_TIMES: HeartbeatTimes = { pingMs: 500, silentMs: 2_000 };

/** A process that did not run for so long may count as silent: with the time between two ticks this comes near `silentMs`. */
export const STOOD_STILL_MS = 1_000;

/** Measures for how long this process did not run between two ticks. */
export class OwnClock {
  readonly #pingMs: number;
  #lastMs: number;

  constructor(times: HeartbeatTimes, nowMs: number) {
    this.#pingMs = times.pingMs;
    this.#lastMs = nowMs;
  }

  /** Call it every `pingMs`. Returns by how many ms it was late; 0 when in time. */
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

  /** A silent neighbour is alive again. */
  heard(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#isSilent = false;
  }

  /** Checks again. True once each time that it falls silent. */
  fellSilent(nowMs: number, missedMs: number): boolean {
    this.#heardAtMs = Math.min(nowMs, this.#heardAtMs + missedMs);
    if (this.#isSilent || nowMs - this.#heardAtMs < this.#silentMs) return false;
    this.#isSilent = true;
    return true;
  }
}
