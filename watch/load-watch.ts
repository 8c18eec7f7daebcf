/**
 * Whether this process has more work waiting than it should take on: what the gateway asks before it begins something new.
 * Measured by what waits, not by how much there is: how late the event loop is, how long the writer's oldest write waits, how many
 * turns are being opened. Each bound is for work that has begun to stay good, and for a "no" to come quickly.
 */
import type { Look } from './stall-watch.ts';

/** Of the thread's own last seconds: shorter, and one burst of requests that are refused counts. Of starts too many are not let in meanwhile (starts.ts). */
const WINDOW_MS = 3_000;
/** While it is overloaded: that it is over is to show soon. */
const OVERLOADED_WINDOW_MS = 1_000;
/** What was measured holds for so long; every start asks. */
const MEASURED_FOR_MS = 50;
/**
 * How late the loop is, by its own work, for a request that comes at any moment, at the median. What a busy machine adds does not count:
 * that one is slow is no reason to refuse what it could do. A process that streams as fast as its core allows is some 40 to 100 ms late
 * and keeps up; a whole start takes a few turns of the loop, so at this bound it takes a second or two.
 */
export const LATE_MAX_MS = 250;
/** A start waits for one write, a console call for two or three; 500 streams that open at once on a slow disk are well below. */
export const WRITE_AGE_MAX_MS = 2_000;
/** As many as a group has: with fewer it is the disk that is slow, or one write that is long, and refusing others speeds up neither. */
export const WRITES_WAITING_MAX = 256;
/** A turn's start takes 1 to 2 ms of the loop: so many are done within a second or two, and a burst of more is no use to anybody. */
export const OPENING_MAX = 1_024;
/** Opening longer than this it waits for something that is not ours to hurry (a document, the turn before it) and holds up nobody. */
const OPENING_COUNTS_MS = 1_000;
/** It is over when everything waits at most half as long as the bound, and this long. Else it would be over and back with every request let in. */
const CALM_SHARE = 0.5;
const CALM_MS = 1_000;

export type OverloadReason = 'loop_late' | 'writes_wait' | 'turns_opening';

export interface LoadStats {
  readonly overloaded: boolean;
  /** How late the loop is, by its own work, at the median moment of the last seconds. */
  readonly lateMs: number;
  /** How long the oldest write waits. */
  readonly writeAgeMs: number;
  /** Turns that were let in within the last second and have not begun. */
  readonly turnsOpening: number;
  /** Times since the start that it began to be overloaded. */
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
  /** Whether something new is to be refused now. Cheap enough for every request. */
  readonly overloaded: boolean;
  stats(): LoadStats;
  /** A turn is being opened; the answer says that it has begun, or was refused. */
  opening(): () => void;
  /** A stretch of the loop has ended; called for short ones, too. */
  looked(look: Look): void;
}

class Watch implements LoadWatch {
  readonly #options: LoadWatchOptions;
  readonly #nowMs: () => number;
  /** Of the last window, oldest first. At a look every 10 ms some hundred of them. */
  #looks: Look[] = [];
  #lateMs = 0;
  /** By when they began, oldest first. */
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
    // A burst comes within one turn of the loop, before anything else can show it.
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
    // Also when nobody asks: it is to be over by the time that somebody does.
    if (nowMs - this.#measuredAtMs >= MEASURED_FOR_MS) this.#measure(nowMs);
  }

  /** By time and not by looks: of one long stretch and many short ones a request meets the long one as often as it is long. */
  #medianLateMs(): number {
    let heldMs = 0;
    const old = this.#looks.findLastIndex(({ hadMs }) => {
      heldMs += hadMs;
      return heldMs > WINDOW_MS;
    });
    if (old > 0) this.#looks = this.#looks.slice(old);
    const windowMs = this.#overloadedSinceMs === null ? WINDOW_MS : OVERLOADED_WINDOW_MS;
    let lookedMs = 0;
    const from = this.#looks.findLastIndex(({ hadMs }) => {
      lookedMs += hadMs;
      return lookedMs >= windowMs;
    });
    let worseMs = 0;
    for (const { hadMs, lateMs } of this.#looks.slice(Math.max(0, from)).sort((one, other) => other.lateMs - one.lateMs)) {
      worseMs += hadMs;
      if (worseMs >= windowMs / 2) return lateMs;
    }
    // Watched for less than half a window.
    return 0;
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

/** Begins to judge what it is told; it sets no timer of its own. */
export function watchLoad(options: LoadWatchOptions): LoadWatch {
  return new Watch(options);
}
