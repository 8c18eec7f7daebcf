/** Whether a series of a soak is flat, by what it would grow in the run if it went on. Pure. */

/** The share of a run at its start that is not judged: caches fill and code is compiled. */
export const WARM_UP_SHARE = 1 / 3;
/** The rest is looked at in so many stretches of one length: a saw-tooth becomes a line, and a single peak nothing. */
const STRETCHES = 24;
/** Fewer say nothing of a trend. */
const STRETCHES_MIN = 8;
/** How much more often the later of two moments is the higher than the lower; what goes up and down stays below. */
const RISING_TAU = 1 / 3;

export interface Point {
  readonly atS: number;
  readonly value: number;
}

export interface Bound {
  /** The middle value of each stretch, or its lowest, which is what is left after work and collections. */
  readonly take: 'middle' | 'least';
  /** What it may grow in a run, as a share of its middle value, or this much, whichever is more. */
  readonly share: number;
  readonly floor: number;
  /** What no middle may be above, whether it grows or not. */
  readonly most?: number;
  /** Shorter runs do not judge it. */
  readonly fromMinutes?: number;
}

/** `middle`, `growth` and `allowed` in the unit of the series; undefined: there is too little to tell. */
export interface Trend {
  readonly middle: number;
  /** What the whole run would add if it had gone as since the warm-up. */
  readonly growth: number;
  readonly allowed: number;
  readonly isFlat: boolean;
}

function middleOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2;
}

function stretchesOf(points: readonly Point[], take: Bound['take'], runS: number): readonly Point[] {
  const fromS = runS * WARM_UP_SHARE;
  const eachS = (runS - fromS) / STRETCHES;
  const stretches = Array.from({ length: STRETCHES }, (_, at): Point => {
    const within = points.filter(({ atS }) => atS >= fromS + at * eachS && atS < fromS + (at + 1) * eachS).map(({ value }) => value);
    return { atS: fromS + (at + 0.5) * eachS, value: take === 'least' ? Math.min(...within) : middleOf(within) };
  });
  return stretches.filter(({ value }) => Number.isFinite(value));
}

/** The median of the slopes of all pairs (Theil and Sen), which a third of the points may miss by any distance, and Kendall's tau. */
export function trendOf(
  points: readonly Point[],
  { take, share, floor, most = Number.POSITIVE_INFINITY }: Bound,
  runS: number,
): Trend | undefined {
  const stretches = stretchesOf(points, take, runS);
  if (stretches.length < STRETCHES_MIN) return undefined;
  const slopes = stretches.flatMap((one, at) => stretches.slice(at + 1).map((other) => (other.value - one.value) / (other.atS - one.atS)));
  const tau = slopes.reduce((sum, slope) => sum + Math.sign(slope), 0) / slopes.length;
  const middle = middleOf(stretches.map(({ value }) => value));
  const growth = middleOf(slopes) * runS;
  const allowed = Math.max(share * middle, floor);
  return { middle, growth, allowed, isFlat: middle <= most && (growth <= allowed || tau <= RISING_TAU) };
}
