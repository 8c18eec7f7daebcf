/** Axes: from values to places, and where they are labelled. Pure. */

export interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Scale {
  /** 0 at the beginning of the axis, 1 at its end; values beyond an end are at the end. */
  readonly place: (value: number) => number;
  readonly ticks: readonly Tick[];
  readonly isLog: boolean;
}

/** Values that differ by more than this are drawn by powers: the smallest would be a hair otherwise. */
const LINEAR_MAX = 25;
const LINEAR_TICKS_MAX = 5;
/** Axes of more powers than this are labelled at every power, shorter ones between them too. */
const FINE_POWERS_MAX = 2;

/** A round number at or above `value`: 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  // A tenth of a per cent above is taken for the number itself: 0.3 is not quite three tenths.
  const step = [1, 2, 5, 10].find((each) => each * power * 1.001 >= value) ?? 10;
  return step * power;
}

/** A number on an axis: `0.5`, `12`, `3k`, `2M`. */
export function shownTick(value: number): string {
  const [size, unit] = Math.abs(value) >= 1e6 ? [1e6, 'M'] : Math.abs(value) >= 10_000 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

function tick(at: number): Tick {
  return { at, label: shownTick(at) };
}

/** From zero to the first tick at or above `most`: a top that is much higher would leave the plot empty. */
export function linearScale(most: number): Scale {
  const least = (most > 0 ? most : 1) / LINEAR_TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power * 1.001 >= least) ?? 10) * power;
  const count = Math.max(1, Math.ceil(most / step / 1.001));
  const top = step * count;
  return {
    isLog: false,
    place: (value) => Math.min(1, Math.max(0, value / top)),
    ticks: Array.from({ length: count + 1 }, (_, at) => tick(step * at)),
  };
}

/** From a round number at or below `least`, by powers, to one at or above `most`; both are above zero. */
export function logScale(least: number, most: number): Scale {
  const [low, high] = [1 / roundUp(1 / least), roundUp(most)];
  const span = Math.log10(high / low) || 1;
  const powers = Array.from({ length: Math.ceil(span) + 2 }, (_, at) => 10 ** (Math.floor(Math.log10(low * 1.001)) + at));
  const steps = span > FINE_POWERS_MAX ? [1] : [1, 2, 5];
  const ticks = powers.flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))));
  return {
    isLog: true,
    place: (value) => Math.min(1, Math.max(0, Math.log10(Math.max(value, low) / low) / span)),
    ticks: ticks.filter((at) => at >= low * 0.999 && at <= high * 1.001).map(tick),
  };
}

/** By powers where the values differ that much, else from zero. Values that are no numbers above zero stand at the beginning. */
export function scaleFor(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  if (positive.length === 0) return linearScale(1);
  return most / least > LINEAR_MAX ? logScale(least, most) : linearScale(most);
}

export function timeTicks(seconds: number): readonly Tick[] {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400].find((each) => seconds / each <= 8) ?? 86_400;
  const count = Math.max(1, Math.ceil(seconds / step));
  return Array.from({ length: count + 1 }, (_, at) => {
    const whole = at * step;
    return { at: whole, label: step < 60 ? `${whole} s` : `${whole / 60} min` };
  });
}

/** An axis whose first and last tick are its ends. */
export function ticksScale(ticks: readonly Tick[]): Scale {
  const [first, last] = [ticks[0]?.at ?? 0, ticks.at(-1)?.at ?? 1];
  return { isLog: false, ticks, place: (value) => Math.min(1, Math.max(0, (value - first) / (last - first || 1))) };
}

/** Labels in rows of this height, each as near as can be to where it belongs, none over another. */
export function spread(wanted: readonly number[], height: number, top: number, bottom: number): number[] {
  const order = wanted.map((at, index) => ({ at, index })).toSorted((one, other) => one.at - other.at);
  const places = new Array<number>(wanted.length).fill(0);
  let next = top;
  for (const [rank, { at, index }] of order.entries()) {
    const room = bottom - (order.length - 1 - rank) * height;
    next = Math.max(next, Math.min(at, room));
    places[index] = next;
    next += height;
  }
  return places;
}
