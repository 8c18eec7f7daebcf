/** The plots of a benchmark: bars of CPU and memory, percentiles of latency, curves of growth. Pure. */
import { SHARES } from '../load/load.ts';
import { type Bar, type BarPlot, barPlot, barsSvg } from '../page/bar-plot.ts';
import { escaped } from '../page/html.ts';
import { linePlot, percentilePlot } from '../page/line-plot.ts';
import { logScale, scaleFor, ticksScale } from '../page/scale.ts';
import { type Hue, otherHue, PLOT_STYLE } from '../page/style.ts';
import type { Curve } from '../question.ts';
import { EARLIER } from '../servers/candidate.ts';
import type { Outcome, Round } from '../workloads/rounds.ts';
import type { Workload } from '../workloads/workloads.ts';
import { summarize } from './report.ts';
import type { Report, Server } from './report-data.ts';
import { digits, median } from './table.ts';

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

/** How each server is drawn, the same in all plots. */
export type Hues = ReadonlyMap<string, Hue>;

/** Ours stand out; the others have a colour each, in their order. */
export function huesOf(servers: readonly Server[]): Hues {
  const peers = servers.filter(({ role }) => role === 'peer');
  return new Map(
    servers.map((server) => {
      if (server.role === 'limit') return [server.name, 'limit'];
      if (server.role === 'peer') return [server.name, otherHue(peers.indexOf(server))];
      return [server.name, server.name === 'service' ? 'ours' : server.name === EARLIER ? 'earlier' : 'beside'];
    }),
  );
}

function hueOf(hues: Hues, name: string): Hue {
  return hues.get(name) ?? 'earlier';
}

function cpuBars(outcomes: readonly Outcome[], hues: Hues): BarPlot | undefined {
  const [first] = outcomes;
  if (first === undefined) return undefined;
  const summaries = summarize(outcomes);
  const relay = summaries.find(({ candidate }) => candidate === 'relay');
  const bars = summaries.map((summary): Bar => {
    const { candidate, cpu_us, cpu_us_min, cpu_us_max, ratio, broken } = summary;
    const beside = ratio === undefined || candidate === 'relay' ? '' : `${ratio.toFixed(ratio < 10 ? 2 : 0)} ×`;
    const note = broken > 0 ? `${broken} broken` : beside;
    const figures = { value: cpu_us, low: cpu_us_min, high: cpu_us_max, label: `${digits(cpu_us)} µs` };
    return { name: candidate, hue: hueOf(hues, candidate), ...figures, ...(note === '' ? {} : { note }) };
  });
  const reference = relay === undefined ? undefined : { name: 'relay', value: relay.cpu_us };
  return { title: `${first.workload.name}: CPU`, unit: `µs a ${first.workload.unit}, and × the relay`, bars, reference };
}

function memoryPlot(workload: Workload, outcomes: readonly Outcome[], hues: Hues): string {
  const bars = outcomes.map(({ candidate, rounds, idle_rss_bytes: idle }): Bar => {
    const peaks = rounds.map(({ peak_rss_bytes }) => peak_rss_bytes / 1e6);
    const value = median(peaks);
    const figures = { value, low: Math.min(...peaks), high: Math.max(...peaks), label: `${value.toFixed(0)} MB` };
    return { name: candidate, hue: hueOf(hues, candidate), ...figures, note: `idle ${(idle / 1e6).toFixed(0)} MB` };
  });
  const relay = bars.find(({ name }) => name === 'relay');
  const reference = relay === undefined ? undefined : { name: 'relay', value: relay.value };
  return barPlot({ title: `${workload.name}: peak memory`, unit: 'MB resident, all processes', bars, reference });
}

function latencyPlot(title: string, outcomes: readonly Outcome[], hues: Hues, of: (round: Round) => readonly number[]): string {
  return percentilePlot({
    title,
    unit: 'ms, medians over the rounds',
    mayBeLog: true,
    lines: outcomes.map(({ candidate, rounds }) => ({
      name: candidate,
      hue: hueOf(hues, candidate),
      count: Math.round(median(rounds.map(({ ok }) => ok))),
      percentiles: SHARES.map((share, at) => [share, median(rounds.map((round) => of(round)[at] ?? Number.NaN))] as const),
    })),
  });
}

/** All plots of a workload: what it costs, what it holds, and how long it lets wait. */
export function workloadPlots(outcomes: readonly Outcome[], hues: Hues): string[] {
  const [first] = outcomes;
  const bars = cpuBars(outcomes, hues);
  if (first === undefined || bars === undefined) return [];
  const { workload } = first;
  return [
    // Two of a kind beside each other: cards of a row are as high as the higher one.
    barPlot(bars),
    memoryPlot(workload, outcomes, hues),
    latencyPlot(`${workload.name}: first delta`, outcomes, hues, ({ first_ms }) => first_ms),
    latencyPlot(`${workload.name}: whole turn`, outcomes, hues, ({ whole_ms }) => whole_ms),
  ];
}

/** What something costs as something else grows; its points with the ranges of their rounds. */
export function curvePlot({ title, x, y, logX = false, lines }: Curve, hues: Hues): string {
  const xs = lines.flatMap((line) => line.points.map((point) => point.x)).filter((value) => Number.isFinite(value));
  const positive = xs.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const usable = positive.length > 0 && most > least;
  const scale = usable && logX ? logScale(least, most) : ticksScale(usable ? scaleFor([most]).ticks : []);
  return linePlot({
    title,
    unit: y,
    x: scale,
    xLabel: logX ? `${x}, by powers` : x,
    mayBeLog: true,
    isMarked: true,
    // A report that is read from a file may hold more: nothing of it but these reaches the page.
    lines: lines.map(({ name, points }) => {
      const hue = hues.get(name);
      return { name, points, ...(hue === undefined ? {} : { hue }) };
    }),
  });
}
