/** Renders the report as one self-contained HTML file: verdict, plots, tables. Pure functions. */

import { formatMs, formatNumber, formatPercent } from './format.ts';
import { escaped, type Line, percentilePlace, plotSvg, timeTicks } from './plots.ts';
import type { Named, Report } from './report.ts';
import { STYLE } from './report-style.ts';
import type { Point } from './series.ts';

const PERCENTILE_TICKS = [0, 50, 90, 99, 99.9, 99.99];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => (cell.startsWith('<td') ? cell : `<${tag}>${cell}</${tag}>`)).join('')}</tr>`;
  return `<div class="scroll"><table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`;
}

const words = (html: string): string => `<td class="words">${html}</td>`;

function namedTable(title: string, all: readonly Named[]): string {
  if (all.length === 0) return '';
  const rows = all.map(({ name, words: meaning, count, example }) => [
    `<code>${escaped(name)}</code>`,
    formatNumber(count),
    words(escaped(meaning ?? '')),
    words(`${escaped(example.message)}<br><code>${escaped(example.request_id)}</code>`),
  ]);
  return `<h2>${title}</h2>${table(['what', 'how often', 'means', 'for example'], rows)}`;
}

function courseOf(series: readonly Point[], value: (point: Point) => number | undefined): Line['points'] {
  return series.flatMap((point) => {
    const y = value(point);
    return y === undefined ? [] : [[point.atS, y] as const];
  });
}

function coursePlots({ series, seconds, goodput }: Report): string[] {
  const xTicks = timeTicks(seconds);
  const limit = goodput.slo.first_delta;
  return [
    plotSvg({
      title: 'Turns',
      unit: 'a second',
      xTicks,
      lines: [
        { name: 'begun', points: courseOf(series, ({ begun, seconds: over }) => begun / over) },
        { name: 'with an error', points: courseOf(series, ({ failed, seconds: over }) => failed / over) },
        { name: 'good', points: courseOf(series, ({ good, seconds: over }) => good / over) },
      ],
    }),
    plotSvg({
      title: 'First delta over time',
      unit: 'ms',
      xTicks,
      lines: [
        { name: 'p50', points: courseOf(series, ({ firstDeltaP50Ms }) => firstDeltaP50Ms) },
        { name: 'p99', points: courseOf(series, ({ firstDeltaP99Ms }) => firstDeltaP99Ms) },
      ],
      limit: limit === undefined ? undefined : { at: limit, label: `SLO ${limit} ms` },
    }),
    plotSvg({ title: 'Streams open', unit: '', xTicks, lines: [{ name: 'open', points: courseOf(series, ({ open }) => open) }] }),
    plotSvg({
      title: 'Tokens',
      unit: 'a second, four characters each',
      xTicks,
      lines: [{ name: 'tokens', points: courseOf(series, ({ tokensPerS }) => tokensPerS) }],
    }),
  ];
}

/** One plot for each measure: they differ by orders of magnitude. */
function percentilePlots({ times, goodput }: Report): string[] {
  return Object.entries(times).flatMap(([measure, each]) => {
    if (each === undefined) return [];
    // A percentile needs at least one measurement beyond it.
    const reached = percentilePlace(100 * (1 - 1 / Math.max(2, each.count)));
    const ticks = PERCENTILE_TICKS.filter((percentile) => percentilePlace(percentile) <= reached + 0.3);
    const points = each.percentiles.map(
      ([percentile, ms]) => [Math.min(percentilePlace(percentile), Math.max(reached, percentilePlace(ticks.at(-1) ?? 50))), ms] as const,
    );
    const limit = goodput.slo[measure];
    return [
      plotSvg({
        title: `Percentiles: ${each.name}`,
        unit: 'ms',
        xTicks: [
          ...ticks.map((percentile) => ({ at: percentilePlace(percentile), label: `${percentile} %` })),
          ...(points.at(-1)?.[0] === percentilePlace(ticks.at(-1) ?? 0) ? [] : [{ at: points.at(-1)?.[0] ?? 1, label: 'max' }]),
        ],
        lines: [{ name: `${formatNumber(each.count)} measured`, points }],
        limit: limit === undefined ? undefined : { at: limit, label: `SLO ${limit} ms` },
      }),
    ];
  });
}

function timesTable({ times }: Report): string {
  const rows = Object.values(times).flatMap((each) =>
    each === undefined
      ? []
      : [[escaped(each.name), ...[each.mean, each.p50, each.p90, each.p99, each.p999, each.max].map(formatMs), formatNumber(each.count)]],
  );
  return rows.length === 0 ? '' : `<h2>Times</h2>${table(['milliseconds', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'count'], rows)}`;
}

function summary({ turns, goodput, seconds, tokens_per_s, pauses, visits, load_tester: own, requests, events }: Report): string {
  const slo = Object.entries(goodput.slo).map(([name, limit]) => `${name} ≤ ${limit} ms`);
  const lines = [
    `${formatNumber(turns.ended)} turns in ${seconds.toFixed(0)} s, ${formatNumber(turns.peak_open)} open at once at most; ${formatNumber(requests)} requests, ${formatNumber(events)} events, ${formatNumber(tokens_per_s)} tokens a second.`,
    `Goodput ${formatPercent(goodput.share)} of ${formatNumber(goodput.judged)} turns, ${formatPercent(goodput.aim)} asked for: whole, without error${slo.length === 0 ? '' : `, ${slo.join(', ')}`}.`,
    `${formatNumber(turns.whole)} turns whole, ${formatNumber(turns.faulty)} with a wrong stream, ${formatNumber(turns.recovered)} cut off and whole after re-attaching.`,
    ...(pauses.count === 0
      ? []
      : [
          `${formatNumber(pauses.count)} pauses of over ${pauses.over_ms} ms within an answer, the longest ${pauses.longest_ms} ms (${pauses.example?.request_id}).`,
        ]),
    `Visits: ${visits.map(({ kind, begun, called_no_action: withoutCall }) => `${formatNumber(begun)} ${kind}${withoutCall === 0 ? '' : ` (${formatNumber(withoutCall)} without a call)`}`).join(', ')}.`,
    `The load tester itself: ${formatPercent(own.cpu_share)} of a core, ${formatNumber(own.peak_rss_mb)} MB, visits sent ${formatMs(own.sent_late_p99_ms)} ms late at p99.${own.words === undefined ? '' : ` ${own.words}`}`,
  ];
  return lines.map((line) => `<p>${escaped(line)}</p>`).join('');
}

/** The whole page. */
export function reportHtml(report: Report): string {
  const { verdict, target, started_at, plan } = report;
  const plots = report.turns.ended === 0 ? [] : [...coursePlots(report), ...percentilePlots(report)].filter((plot) => plot !== '');
  const isGood = verdict.exit_code === 0;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Load test of ${escaped(target.url)}</title><style>${STYLE}</style></head>
<body>
<h1>Load test of ${escaped(target.url)}</h1>
<p class="muted">${escaped(started_at)} · model ${escaped(target.model ?? 'unknown')} · ${escaped(target.keys.join(', '))}</p>
<div class="verdict${isGood ? '' : ' bad'}">${verdict.words.map((each) => `<p>${escaped(each)}</p>`).join('')}</div>
${summary(report)}
<h2>Plots</h2><div class="plots">${plots.join('\n') || '<p>No turn was answered, so there is nothing to draw.</p>'}</div>
${timesTable(report)}
${namedTable('Wrong streams', report.faults)}
${namedTable('Errors', report.errors)}
<h2>What was asked</h2><p><code>${escaped(JSON.stringify(plan))}</code></p>
</body></html>
`;
}
