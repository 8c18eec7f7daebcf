/** The time series of a run: one point a second, fewer in long runs. */
import type { Tally, Tick } from './tally.ts';

/** Bounds the size of the report. */
const POINTS_MAX = 900;
export const CHARS_PER_TOKEN = 4;

export type Point = Readonly<ReturnType<typeof pointOf>>;

export function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

/** `atS`: seconds after the start at which the point ends; `seconds`: how many it covers. */
function pointOf(tick: Tick, atS: number, seconds: number) {
  const { begun, ended, good, failed, chars, peakOpen: open } = tick;
  const sorted = tick.firstDeltasMs.toSorted((one, other) => one - other);
  return {
    atS,
    seconds,
    begun,
    ended,
    good,
    failed,
    open,
    tokensPerS: chars / CHARS_PER_TOKEN / seconds,
    firstDeltaP50Ms: quantile(sorted, 0.5),
    firstDeltaP99Ms: quantile(sorted, 0.99),
  };
}

export class Series {
  readonly #tally: Tally;
  readonly #everyMs: number;
  readonly #startMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly points: Point[] = [];
  #lastMs: number;

  /** `expectedMs`: how long the run may take. `onPoint` is called with each point. */
  constructor(tally: Tally, expectedMs: number, onPoint: (point: Point) => void) {
    this.#tally = tally;
    this.#everyMs = 1_000 * Math.max(1, Math.ceil(expectedMs / 1_000 / POINTS_MAX));
    this.#startMs = performance.now();
    this.#lastMs = this.#startMs;
    this.#timer = setInterval(() => onPoint(this.#take()), this.#everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    if (performance.now() - this.#lastMs > 100) this.#take();
  }

  #take(): Point {
    const nowMs = performance.now();
    const point = pointOf(this.#tally.takeTick(), (nowMs - this.#startMs) / 1_000, (nowMs - this.#lastMs) / 1_000);
    this.#lastMs = nowMs;
    this.points.push(point);
    return point;
  }
}
