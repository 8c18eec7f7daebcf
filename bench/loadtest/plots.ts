/** Line plots as inline SVG, coloured by the CSS of the page. Pure functions. */

export interface Line {
  readonly name: string;
  /** x and y, x rising. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Where the x axis is labelled; its first and last tick are its ends. */
  readonly xTicks: readonly Tick[];
  /** A horizontal line, such as the SLO. */
  readonly limit?: { readonly at: number; readonly label: string } | undefined;
}

const WIDTH = 720;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 28;
const TOP = 16;
const BOTTOM = 34;
/** More points than this are not visible. */
const POINTS_MAX = 400;
const Y_TICKS = 4;

/** Escapes text for HTML and attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A round number at or above `value`: 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

function shown(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 1_000)}k`;
  return String(Number(value.toPrecision(3)));
}

/** Downsamples a line. Keeps the highest point of each group, so that no peak is lost. */
export function thinned(points: Line['points']): Line['points'] {
  if (points.length <= POINTS_MAX) return points;
  const each = points.length / POINTS_MAX;
  return Array.from({ length: POINTS_MAX }, (_, at) => {
    const share = points.slice(Math.floor(at * each), Math.floor((at + 1) * each));
    return share.reduce((highest, point) => (point[1] > highest[1] ? point : highest));
  });
}

function fixed(value: number): string {
  return value.toFixed(1);
}

/** One plot with its legend, `''` when no line has two points. */
export function plotSvg({ title, unit, lines, xTicks, limit }: Plot): string {
  const drawn = lines.filter(({ points }) => points.length > 1);
  const [first, last] = [xTicks[0], xTicks.at(-1)];
  if (drawn.length === 0 || first === undefined || last === undefined || last.at <= first.at) return '';
  const highest = Math.max(...drawn.flatMap(({ points }) => points.map(([, y]) => y)));
  const top = roundUp(limit === undefined || limit.at > highest * 3 ? highest : Math.max(highest, limit.at));
  const x = (value: number): number => LEFT + ((value - first.at) / (last.at - first.at)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => HEIGHT - BOTTOM - (Math.min(value, top) / top) * (HEIGHT - TOP - BOTTOM);
  const grid = Array.from({ length: Y_TICKS + 1 }, (_, at) => {
    const value = (top * at) / Y_TICKS;
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y(value))}" y2="${fixed(y(value))}"/><text class="tick" x="${LEFT - 8}" y="${fixed(y(value) + 4)}" text-anchor="end">${shown(value)}</text>`;
  });
  const ticks = xTicks.map(
    ({ at, label }) => `<text class="tick" x="${fixed(x(at))}" y="${HEIGHT - 12}" text-anchor="middle">${escaped(label)}</text>`,
  );
  const paths = drawn.map(({ name, points }, index) => {
    const path = thinned(points).map(([px, py]) => `${fixed(x(px))},${fixed(y(py))}`);
    return `<polyline class="line c${index}" points="${path.join(' ')}"><title>${escaped(name)}</title></polyline>`;
  });
  const limitLine =
    limit === undefined || limit.at > top
      ? ''
      : `<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y(limit.at))}" y2="${fixed(y(limit.at))}"/><text class="tick limit-label" x="${WIDTH - RIGHT}" y="${fixed(y(limit.at) - 5)}" text-anchor="end">${escaped(limit.label)}</text>`;
  const legend = drawn.map(({ name }, index) => `<span class="key"><i class="k${index}"></i>${escaped(name)}</span>`);
  return `<figure><figcaption>${escaped(title)} <small>${escaped(unit)}</small> ${legend.join('')}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${grid.join('')}${ticks.join('')}${limitLine}${paths.join('')}</svg></figure>`;
}

/** Ticks of a time axis. */
export function timeTicks(seconds: number): readonly Tick[] {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400].find((each) => seconds / each <= 8) ?? 86_400;
  const count = Math.max(1, Math.ceil(seconds / step));
  return Array.from({ length: count + 1 }, (_, at) => {
    const whole = at * step;
    return { at: whole, label: step < 60 ? `${whole} s` : `${whole / 60} min` };
  });
}

/** The position of a percentile on the axis of an HDR plot, on which each further nine has the same width. */
export function percentilePlace(percentile: number): number {
  return -Math.log10(Math.max(1 - percentile / 100, 1e-6));
}
