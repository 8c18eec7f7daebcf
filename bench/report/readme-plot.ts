/** The plot of the main README: CPU of all servers a delta and a turn, as one SVG that stands by itself, light and dark. Pure. */
import { type BarPlot, barsSvg } from '../page/bar-plot.ts';
import { escaped } from '../page/html.ts';
import { PLOT_STYLE } from '../page/style.ts';
import type { Report } from './report-data.ts';
import { cpuBars, huesOf } from './report-plots.ts';

const SHOWN = [
  { workload: 'W1', title: 'CPU for each delta of an answer' },
  { workload: 'W3', title: 'CPU for each turn of one token' },
] as const;
const WIDTH = 520;
const GAP = 24;
const TITLE = 34;

export function readmeSvg({ outcomes, candidates }: Report): string | undefined {
  const hues = huesOf(candidates);
  const plots = SHOWN.flatMap(({ workload, title }): BarPlot[] => {
    const bars = cpuBars(
      outcomes.filter((outcome) => outcome.workload.name === workload && outcome.candidate !== 'earlier'),
      hues,
    );
    return bars === undefined ? [] : [{ ...bars, title }];
  });
  if (plots.length === 0) return undefined;
  const drawn = plots.map((plot) => ({ plot, ...barsSvg(plot) }));
  const height = TITLE + Math.max(...drawn.map((each) => each.height));
  const width = drawn.length * (WIDTH + GAP) - GAP;
  const groups = drawn.map(({ plot, svg, scale, height: own }, at) => {
    const placed = svg.replace('<svg ', `<svg x="${at * (WIDTH + GAP)}" y="${TITLE}" width="${WIDTH}" height="${own}" `);
    const by = scale.isLog ? ', by powers' : '';
    return `<text x="${at * (WIDTH + GAP) + 8}" y="20"><tspan style="font-weight:650">${escaped(plot.title)}</tspan><tspan class="faint" dx="8">µs, and × the relay${by}</tspan></text>${placed}`;
  });
  // A page may be dark for a reader whose system is light: the plot does not lean on what is behind it.
  const ground = '<rect width="100%" height="100%" rx="8" style="fill:var(--panel)"/>';
  const what = plots.map(({ title }) => title).join('; ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(what)}"><style>${PLOT_STYLE}</style>${ground}${groups.join('')}</svg>\n`;
}
