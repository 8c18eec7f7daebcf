/**
 * Whether this process is overloaded, which the gateway asks before it accepts new work. Measured by waiting times, not by volume: how late
 * the event loop is, how long the oldest write waits, and how many turns are being opened. The bounds protect work that has begun, and
 * let refusals come quickly.
 */
import type { Look } from './stall-watch.ts';

/** Window of the thread's own time. In a shorter one a single burst of refused requests would count; starts.ts bounds new turns meanwhile. */
const WINDOW_MS = 3_000;
/** Window while overloaded, shorter so that the end is noticed soon. */
const OVERLOADED_WINDOW_MS = 1_000;
/** How long a measurement is reused; every start asks. */
const MEASURED_FOR_MS = 50;
/**
 * Median lateness of the loop by its own work, as a request at a random moment meets it. Delays by a busy machine do not count: they are no
 * reason to refuse. A process that streams as fast as its core allows is some 40 to 100 ms late and keeps up. Starting a turn takes a few
 * loop ticks, so at this bound a second or two.
 */
export const LATE_MAX_MS = 250;
/** A start waits for one write, a console call for two or three. 500 streams opened at once on a slow disk stay well below this. */
export const WRITE_AGE_MAX_MS = 2_000;
/** As many as one group holds. With fewer waiting, the disk or one write is slow, and refusing others would not help. */
export const WRITES_WAITING_MAX = 256;
/** Starting a turn takes 1 to 2 ms of the loop, so this many take a second or two. Larger bursts help nobody. */
export const OPENING_MAX = 1_024;
/** A turn that opens for longer than this waits for something else (a document, the turn before it) and does not load the loop. */
const OPENING_COUNTS_MS = 1_000;
/** Overload ends when all measures are below this share of their bounds; without hysteresis it would flap with every accepted request. */
const CALM_SHARE = 0.5;
const CALM_MS = 1_000;

export type OverloadReason = 'loop_late' | 'writes_wait' | 'turns_opening';

export interface LoadStats {
  readonly overloaded: boolean;
  /** Median lateness of the loop in the last seconds, by its own work. */
  readonly lateMs: number;
  /** How long the oldest write waits. */
  readonly writeAgeMs: number;
  /** Turns that were accepted within the last second and have not begun. */
  readonly turnsOpening: number;
  /** How often the process became overloaded since its start. */
  readonly overloads: number;
}

export interface LoadWatchOptions {
  /** How many writes wait for their commit, and how long the oldest of them does. */
  writes(): { readonly outstanding: number; readonly oldestMs: number };
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Only ever rises. Tests give their own. */
  readonly nowMs?: () => number;
}

export interface LoadWatch {
  /** Whether new work is to be refused now. Cheap enough for every request. */
  readonly overloaded: boolean;
  stats(): LoadStats;
  /** To be called when a turn is being opened. Call the returned function when it has begun or was refused. */
  opening(): () => void;
  /** Receives every measurement of the stall watch. */
  looked(look: Look): void;
}

/** A difference would be a number with a fraction, which is an object: hundreds each time. */
function worseFirst(one: Look, other: Look): number {
  return Number(other.lateMs > one.lateMs) - Number(other.lateMs < one.lateMs);
}

class Watch implements LoadWatch {
  readonly #options: LoadWatchOptions;
  readonly #nowMs: () => number;
  /** Measurements of the last window, oldest first; some hundred. */
  #looks: Look[] = [];
  #lateMs = 0;
  /** When each opening began, oldest first. */
  readonly #opening = new Map<symbol, number>();
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #overloadedSinceMs: number | null = null;
  #calmSinceMs: number | null = null;
  #overloads = 0;

  constructor(options: LoadWatchOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get overloaded(): boolean {
    const nowMs = this.#nowMs();
    // A burst arrives within one loop tick, before any other measure shows it.
    if (this.#overloadedSinceMs === null && this.#opening.size >= OPENING_MAX) this.#measure(nowMs);
    else if (nowMs - this.#measuredAtMs >= MEASURED_FOR_MS) this.#measure(nowMs);
    return this.#overloadedSinceMs !== null;
  }

  stats(): LoadStats {
    const { overloaded } = this;
    const turnsOpening = this.#openingNow(this.#nowMs());
    const { oldestMs: writeAgeMs } = this.#options.writes();
    return { overloaded, lateMs: this.#lateMs, writeAgeMs, turnsOpening, overloads: this.#overloads };
  }

  opening(): () => void {
    const key = Symbol('opening');
    this.#opening.set(key, this.#nowMs());
    return () => void this.#opening.delete(key);
  }

  looked(look: Look): void {
    this.#looks.push(look);
    const nowMs = this.#nowMs();
    // Measured even when nobody asks, so that overload has ended by the next request.
    if (nowMs - this.#measuredAtMs >= MEASURED_FOR_MS) this.#measure(nowMs);
  }

  /** Weighted by time, because a request meets a long stretch more often than a short one. */
  #medianLateMs(): number {
    const old = this.#newest(WINDOW_MS);
    if (old > 0) this.#looks = this.#looks.slice(old);
    const windowMs = this.#overloadedSinceMs === null ? WINDOW_MS : OVERLOADED_WINDOW_MS;
    let worseMs = 0;
    for (const { hadMs, lateMs } of this.#looks.slice(this.#newest(windowMs)).sort(worseFirst)) {
      worseMs += hadMs;
      if (worseMs >= windowMs / 2) return lateMs;
    }
    // Watched for less than half a window.
    return 0;
  }

  /** Where the newest looks begin that make up so long; 0: all of them do not. */
  #newest(windowMs: number): number {
    let at = this.#looks.length;
    for (let hadMs = 0; at > 0 && hadMs < windowMs; ) hadMs += this.#looks[--at]?.hadMs ?? 0;
    return at;
  }

  #openingNow(nowMs: number): number {
    for (const [key, sinceMs] of this.#opening) {
      if (nowMs - sinceMs < OPENING_COUNTS_MS) break;
      this.#opening.delete(key);
    }
    return this.#opening.size;
  }

  #measure(nowMs: number): void {
    this.#measuredAtMs = nowMs;
    this.#lateMs = this.#medianLateMs();
    const { outstanding, oldestMs } = this.#options.writes();
    const shares: readonly (readonly [OverloadReason, number])[] = [
      ['loop_late', this.#lateMs / LATE_MAX_MS],
      ['writes_wait', Math.min(outstanding / WRITES_WAITING_MAX, oldestMs / WRITE_AGE_MAX_MS)],
      ['turns_opening', this.#openingNow(nowMs) / OPENING_MAX],
    ];
    const reasons = shares.flatMap(([reason, share]) => (share >= 1 ? [reason] : []));
    if (this.#overloadedSinceMs === null) {
      if (reasons.length > 0) this.#begin(nowMs, reasons);
      return;
    }
    if (shares.some(([, share]) => share > CALM_SHARE)) this.#calmSinceMs = null;
    else this.#calmSinceMs ??= nowMs;
    if (this.#calmSinceMs !== null && nowMs - this.#calmSinceMs >= CALM_MS) this.#end(nowMs);
  }

  #begin(nowMs: number, reasons: readonly OverloadReason[]): void {
    this.#overloadedSinceMs = nowMs;
    this.#calmSinceMs = null;
    this.#overloads += 1;
    this.#options.log.warn(
      { reasons, late_ms: Math.round(this.#lateMs) },
      'overloaded: new turns are refused until the waiting work is done',
    );
  }

  #end(nowMs: number): void {
    const forMs = Math.round(nowMs - (this.#overloadedSinceMs ?? nowMs));
    this.#overloadedSinceMs = null;
    this.#options.log.info({ for_ms: forMs }, 'no longer overloaded: new turns are accepted again');
  }
}

/** Creates the watch; it sets no timer of its own. */
export function watchLoad(options: LoadWatchOptions): LoadWatch {
  return new Watch(options);
}
