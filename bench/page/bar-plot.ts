/** Bars with ranges as SVG, beside a reference line. Pure. */
import { digits } from '../report/table.ts';
import { escaped } from './html.ts';
import { type Scale, scaleFor } from './scale.ts';
import type { Hue } from './style.ts';

export interface Bar {
  readonly name: string;
  readonly hue: Hue;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly label: string;
  /** What else is said of it, fainter. */
  readonly note?: string;
}

export interface BarPlot {
  readonly title: string;
  /** What the figures are, with their unit. */
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** A value that the others are looked at beside. */
  readonly reference?: { readonly name: string; readonly value: number } | undefined;
}

const WIDTH = 520;
/** Room for the longest name, and for the figures beside the bars. */
const LEFT = 96;
const RIGHT = 132;
const TOP = 8;
const ROW = 24;
const BAR = 13;
const AXIS = 24;

function fixed(value: number): string {
  return value.toFixed(1);
}

/** The bars as SVG without a caption, and its height. Bars on a scale by powers begin at the reference: they have no zero. */
export function barsSvg({ title, unit, bars, reference }: BarPlot): {
  readonly svg: string;
  readonly height: number;
  readonly scale: Scale;
} {
  const scale = scaleFor(bars.flatMap(({ value, low, high }) => [value, low, high]));
  const x = (value: number): number => LEFT + scale.place(value) * (WIDTH - LEFT - RIGHT);
  const bottom = TOP + bars.length * ROW;
  const height = bottom + AXIS;
  const grid = scale.ticks.map(
    ({ at, label }) =>
      `<line class="grid" x1="${fixed(x(at))}" x2="${fixed(x(at))}" y1="${TOP}" y2="${bottom}"/><text class="tick middle" x="${fixed(x(at))}" y="${bottom + 16}">${escaped(label)}</text>`,
  );
  const from = x(scale.isLog && reference !== undefined ? reference.value : 0);
  const rows = bars.map(({ name, hue, value, low, high, label, note }, at) => {
    const middle = TOP + at * ROW + ROW / 2;
    const [begin, end] = [Math.min(from, x(value)), Math.max(from, x(value))];
    const said = `<tspan>${escaped(label)}</tspan>${note === undefined ? '' : `<tspan class="faint" dx="6">${escaped(note)}</tspan>`}`;
    const [least, most] = [low, high].map(digits);
    const tip = `<title>${escaped(`${name}: ${label}, rounds ${least} to ${most}${note === undefined ? '' : `, ${note}`}`)}</title>`;
    const ground = `<rect class="row" x="0" y="${TOP + at * ROW}" width="${WIDTH}" height="${ROW}" rx="4"/>`;
    return `<g class="${hue}">${tip}${ground}<text class="name end ${hue}" x="${LEFT - 8}" y="${middle + 4}">${escaped(name)}</text><rect class="bar" x="${fixed(begin)}" y="${middle - BAR / 2}" width="${fixed(Math.max(1.5, end - begin))}" height="${BAR}" rx="2"/><path class="range" d="M${fixed(x(low))} ${middle}H${fixed(x(high))}M${fixed(x(low))} ${middle - 3}v6M${fixed(x(high))} ${middle - 3}v6"/><text class="label ${hue}" x="${fixed(Math.max(x(high), x(value), from) + 7)}" y="${middle + 4}">${said}</text></g>`;
  });
  const at = reference === undefined ? 0 : x(reference.value);
  const line = reference === undefined ? '' : `<line class="reference" x1="${fixed(at)}" x2="${fixed(at)}" y1="${TOP}" y2="${bottom}"/>`;
  const words = bars.map(({ name, label, note }) => `${name} ${label}${note === undefined ? '' : `, ${note}`}`).join('; ');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(`${title}, ${unit}. ${words}.`)}">${grid.join('')}${rows.join('')}${line}</svg>`;
  return { svg, height, scale };
}

/** The plot with its caption, `''` without bars. */
export function barPlot(plot: BarPlot): string {
  if (plot.bars.length === 0) return '';
  const { svg, scale } = barsSvg(plot);
  const by = scale.isLog ? `, by powers${plot.reference === undefined ? '' : `; bars begin at the ${plot.reference.name}`}` : '';
  return `<figure><figcaption>${escaped(plot.title)} <small>${escaped(plot.unit + by)}</small></figcaption>${svg}</figure>`;
}
