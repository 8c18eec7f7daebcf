/** Lines as SVG: courses, curves of growth and percentiles. Pure. */
import { digits } from '../report/table.ts';
import { escaped } from './html.ts';
import { linearScale, type Scale, scaleFor, shownTick, spread, ticksScale } from './scale.ts';
import { type Hue, isDashed, lineHue } from './style.ts';

interface PercentileLine {
  readonly name: string;
  readonly hue?: Hue;
  /** How many were measured: no percentile is told that has none beyond it. */
  readonly count: number;
  readonly percentiles: readonly (readonly [share: number, value: number])[];
}

interface PercentilePlot {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly PercentileLine[];
  readonly mayBeLog?: boolean;
  readonly limit?: { readonly at: number; readonly label: string } | undefined;
}

const TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];
/** An axis that ends this soon after a tick has no other label there. */
const CROWDED = 0.45;

/** Beyond the 99th percentile one is told only where so many measurements lie beyond it: p99.9 of 10,000. */
const BEYOND_MIN = 10;

/** Whether a percentile of so many measurements says something; the least and the slowest of all always do. */
export function isTold(share: number, count: number): boolean {
  return share === 1 || count * (1 - share) * 1.000_001 >= (share > 0.99 ? BEYOND_MIN : 1);
}

/** log10 of 1 ÷ (1 − share). */
function percentilePlace(share: number): number {
  return -Math.log10(Math.max(1 - share, 1e-6)) || 0;
}

function reachOf(count: number): number {
  return percentilePlace(1 - 1 / Math.max(2, count));
}

function shown(share: number): string {
  return share === 0 ? 'least' : `p${Number((share * 100).toPrecision(6))}`;
}

/** A plot of percentiles; the slowest of all stands at the end of its line. */
export function percentilePlot({ lines, ...plot }: PercentilePlot): string {
  const end = Math.max(...lines.map(({ count }) => reachOf(count)));
  const most = Math.max(...lines.map(({ count }) => count));
  const marks = TICKS.filter((share) => isTold(share, most) && percentilePlace(share) < end - CROWDED).map((share) => {
    return { at: percentilePlace(share), label: shown(share) };
  });
  const drawn: Line[] = lines.map(({ count, percentiles, ...line }) => {
    const reach = reachOf(count);
    const within = percentiles.filter(([share]) => isTold(share, count) && (share === 1 || percentilePlace(share) < reach));
    return {
      ...line,
      points: within.map(([share, y]) => ({ x: share === 1 ? reach : percentilePlace(share), y, at: share === 1 ? 'max' : shown(share) })),
    };
  });
  return linePlot({ ...plot, lines: drawn, x: ticksScale([...marks, { at: end, label: 'max' }]) });
}

interface LinePoint {
  readonly x: number;
  readonly y: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** What `x` is called where a pointer rests on the point. */
  readonly at?: string | undefined;
}

export interface Line {
  readonly name: string;
  /** By its place among the lines when absent. */
  readonly hue?: Hue;
  /** x rising. */
  readonly points: readonly LinePoint[];
}

interface LinePlot {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly x: Scale;
  readonly xLabel?: string;
  /** Whether y may go by powers when its values differ that much. */
  readonly mayBeLog?: boolean;
  /** Whether each point was measured by itself, and is marked. */
  readonly isMarked?: boolean;
  /** A horizontal line, such as the SLO. */
  readonly limit?: { readonly at: number; readonly label: string } | undefined;
  /** Moments on x at which something happened. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[];
  /** The beginning of the x axis up to here is shaded, and named. */
  readonly shade?: { readonly to: number; readonly label: string } | undefined;
}

const WIDTH = 520;
const PLOT_HEIGHT = 226;
const LEFT = 50;
const RIGHT = 18;
/** With the names of the lines beside their ends. */
const RIGHT_NAMED = 104;
const TOP = 12;
/** Below the plot, with the labels of its axis, and with the name of the axis too. */
const BOTTOM = 28;
const BOTTOM_NAMED = 46;
const GROUND = TOP + PLOT_HEIGHT;
const NAME_HEIGHT = 17;
/** More points than this are not visible. */
const POINTS_MAX = 400;
/** More points than this are too near each other for a pointer. */
const TIPS_MAX = 40;
/** A plot of more lines has their names at their ends: a key of ten colours is a riddle. */
const KEYED_MAX = 3;
/** A text alternative of more points reads worse than none. */
const TOLD_MAX = 14;
/** A limit this far above all lines would press them to the ground. */
const LIMIT_FAR = 3;

/** Downsamples a line. Keeps the highest point of each group, so that no peak is lost. */
export function thinned(points: readonly LinePoint[], most = POINTS_MAX): readonly LinePoint[] {
  if (points.length <= most) return points;
  const each = points.length / most;
  return Array.from({ length: most }, (_, at) => {
    const share = points.slice(Math.floor(at * each), Math.floor((at + 1) * each));
    return share.reduce((highest, point) => (point.y > highest.y ? point : highest));
  });
}

function fixed(value: number): string {
  return value.toFixed(1);
}

interface Drawn extends Line {
  readonly hue: Hue;
}

interface Places {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function lineSvg({ hue, points, name }: Drawn, { x, y }: Places, isMarked: boolean): string {
  const path = thinned(points).map((point) => `${fixed(x(point.x))},${fixed(y(point.y))}`);
  const marks = points.map((point) => {
    const { low, high } = point;
    const at = fixed(x(point.x));
    const whisker = low === undefined || high === undefined ? '' : `<path class="whisker" d="M${at} ${fixed(y(low))}V${fixed(y(high))}"/>`;
    return `${whisker}<circle class="dot" cx="${at}" cy="${fixed(y(point.y))}" r="3"/>`;
  });
  return `<g class="${hue}"><polyline class="line ${hue}${isDashed(hue) ? ' dashed' : ''}" points="${path.join(' ')}"><title>${escaped(name)}</title></polyline>${isMarked ? marks.join('') : ''}</g>`;
}

/** Names beside the ends of the lines, with a thread to each. */
function namesSvg(drawn: readonly Drawn[], { x, y }: Places): string {
  const ends = drawn.map(({ points }) => points.at(-1));
  const places = spread(
    ends.map((end) => y(end?.y ?? 0)),
    NAME_HEIGHT,
    TOP + 4,
    GROUND,
  );
  return drawn
    .map(({ name, hue }, at) => {
      const [end, place] = [ends[at], places[at]];
      if (end === undefined || place === undefined) return '';
      const from = `${fixed(x(end.x))} ${fixed(y(end.y))}`;
      return `<g class="${hue}"><path class="leader" fill="none" d="M${from}L${WIDTH - RIGHT_NAMED + 14} ${fixed(place)}"/><text class="line-name label ${hue}" x="${WIDTH - RIGHT_NAMED + 17}" y="${fixed(place + 4)}">${escaped(name)}</text></g>`;
    })
    .join('');
}

/** What a pointer that rests on a point is told; above all lines. */
function tipsSvg(drawn: readonly Drawn[], { x, y }: Places): string {
  return drawn
    .flatMap(({ name, hue, points }) =>
      thinned(points, TIPS_MAX).map((point) => {
        const [left, top] = [x(point.x), y(point.y)];
        const anchor = left > WIDTH / 2 ? ' end' : '';
        const range = point.low === undefined || point.high === undefined ? '' : ` (${digits(point.low)} to ${digits(point.high)})`;
        const words = `${name}, ${point.at ?? shownTick(point.x)}: ${digits(point.y)}${range}`;
        return `<g class="tip ${hue}"><circle class="hit" cx="${fixed(left)}" cy="${fixed(top)}" r="9"/><circle class="dot" cx="${fixed(left)}" cy="${fixed(top)}" r="4"/><text class="${hue}${anchor}" x="${fixed(left)}" y="${fixed(Math.max(TOP + 8, top - 10))}">${escaped(words)}</text></g>`;
      }),
    )
    .join('');
}

/** What the plot shows, for those who do not see it. */
function wordsOf({ title, unit, xLabel }: LinePlot, drawn: readonly Drawn[]): string {
  const lines = drawn.map(({ name, points }) => {
    const told = points.length <= TOLD_MAX ? points : [points[0], points.at(-1)].filter((point) => point !== undefined);
    const high = points.length <= TOLD_MAX ? '' : `, at most ${shownTick(Math.max(...points.map(({ y }) => y)))}`;
    return `${name}: ${told.map(({ x, y }) => `${shownTick(x)}: ${shownTick(y)}`).join(', ')}${high}`;
  });
  return `${title}, ${unit}${xLabel === undefined ? '' : ` by ${xLabel}`}. ${lines.join('; ')}.`;
}

/** One plot with its key, `''` when no line has two points. */
export function linePlot(plot: LinePlot): string {
  const { title, unit, x: scale, xLabel, limit, isMarked = false, marks = [] } = plot;
  const real = plot.lines.map((line, at): Drawn => {
    const points = line.points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    return { ...line, hue: line.hue ?? lineHue(at), points };
  });
  const drawn = real.filter(({ points }) => points.length > 1);
  if (drawn.length === 0) return '';
  const values = drawn.flatMap(({ points }) => points.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]));
  const highest = Math.max(...values);
  const withLimit = limit === undefined || limit.at > highest * LIMIT_FAR ? values : [...values, limit.at];
  const yScale = plot.mayBeLog === true ? scaleFor(withLimit) : linearScale(Math.max(...withLimit));
  const isNamed = drawn.length > KEYED_MAX;
  const right = WIDTH - (isNamed ? RIGHT_NAMED : RIGHT);
  const x = (value: number): number => LEFT + scale.place(value) * (right - LEFT);
  const y = (value: number): number => GROUND - yScale.place(value) * PLOT_HEIGHT;
  const grid = yScale.ticks.map(
    ({ at, label }) =>
      `<line class="grid" x1="${LEFT}" x2="${right}" y1="${fixed(y(at))}" y2="${fixed(y(at))}"/><text class="tick end" x="${LEFT - 7}" y="${fixed(y(at) + 4)}">${label}</text>`,
  );
  const ticks = scale.ticks.map(
    ({ at, label }) => `<text class="tick middle" x="${fixed(x(at))}" y="${GROUND + 17}">${escaped(label)}</text>`,
  );
  const moments = marks.map(
    ({ at, label }) => `<path class="moment" d="M${fixed(x(at))} ${TOP}V${GROUND}"><title>${escaped(label)}</title></path>`,
  );
  const axis =
    xLabel === undefined ? '' : `<text class="tick middle" x="${(LEFT + right) / 2}" y="${GROUND + 38}">${escaped(xLabel)}</text>`;
  const limitSvg =
    limit === undefined || !withLimit.includes(limit.at)
      ? ''
      : `<line class="aim" x1="${LEFT}" x2="${right}" y1="${fixed(y(limit.at))}" y2="${fixed(y(limit.at))}"/><text class="aim-name end" x="${right}" y="${fixed(y(limit.at) - 5)}">${escaped(limit.label)}</text>`;
  const { shade } = plot;
  const shadeSvg =
    shade === undefined
      ? ''
      : `<rect class="shade" x="${LEFT}" y="${TOP}" width="${fixed(x(shade.to) - LEFT)}" height="${PLOT_HEIGHT}"/><text class="tick" x="${LEFT + 5}" y="${TOP + 13}">${escaped(shade.label)}</text>`;
  // What is ours lies on top.
  const lines = drawn.toSorted((one, other) => Number(one.hue === 'ours') - Number(other.hue === 'ours'));
  const svg = lines.map((line) => lineSvg(line, { x, y }, isMarked)).join('');
  const key = isNamed ? [] : drawn.map(({ name, hue }) => `<span class="key ${hue}"><i></i>${escaped(name)}</span>`);
  const by = yScale.isLog ? `${unit}, by powers` : unit;
  return `<figure><figcaption>${escaped(title)} <small>${escaped(by)}</small> ${key.join('')}</figcaption><svg viewBox="0 0 ${WIDTH} ${GROUND + (xLabel === undefined ? BOTTOM : BOTTOM_NAMED)}" role="img" aria-label="${escaped(wordsOf(plot, drawn))}">${shadeSvg}${grid.join('')}${moments.join('')}${ticks.join('')}${axis}${limitSvg}${svg}${isNamed ? namesSvg(drawn, { x, y }) : ''}${tipsSvg(lines, { x, y })}</svg></figure>`;
}
