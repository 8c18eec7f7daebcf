/** Renders the report as one self-contained HTML file: verdict, plots, tables. Pure functions. */

import { escaped, pageHtml, tableHtml } from '../page/html.ts';
import { type Line, linePlot, percentilePlot } from '../page/line-plot.ts';
import { ticksScale, timeTicks } from '../page/scale.ts';
import { formatMs, formatNumber, formatPercent } from './failure.ts';
import type { Named, Report } from './report.ts';
import type { Point } from './series.ts';

/** What was counted by name, with an example of each. */
function namedTable(title: string, all: readonly Named[]): string {
  if (all.length === 0) return '';
  const rows = all.map(({ name, words, count, example }) => {
    return [name, formatNumber(count), words ?? '', example.message, example.request_id];
  });
  return `<h2>${title}</h2>${tableHtml({ columns: ['what', 'how often', 'means', 'for example', 'request'], rows })}`;
}

function courseOf(series: readonly Point[], value: (point: Point) => number | undefined): Line['points'] {
  return series.flatMap((point) => {
    const y = value(point);
    return y === undefined ? [] : [{ x: point.atS, y }];
  });
}

function coursePlots({ series, seconds, goodput, plan }: Report): string[] {
  const x = ticksScale(timeTicks(seconds));
  const limit = goodput.slo.first_delta;
  const rampS = plan.ramp_ms / 1e3;
  const shade = rampS === 0 ? undefined : { to: Math.min(rampS, seconds), label: 'ramp' };
  return [
    linePlot({
      title: 'Turns',
      unit: 'a second',
      x,
      shade,
      lines: [
        { name: 'begun', points: courseOf(series, ({ begun, seconds: over }) => begun / over) },
        { name: 'with an error', points: courseOf(series, ({ failed, seconds: over }) => failed / over) },
        { name: 'good', points: courseOf(series, ({ good, seconds: over }) => good / over) },
      ],
    }),
    linePlot({
      title: 'First delta over time',
      unit: 'ms',
      x,
      shade,
      lines: [
        { name: 'p50', points: courseOf(series, ({ firstDeltaP50Ms }) => firstDeltaP50Ms) },
        { name: 'p99', points: courseOf(series, ({ firstDeltaP99Ms }) => firstDeltaP99Ms) },
      ],
      limit: limit === undefined ? undefined : { at: limit, label: `SLO ${limit} ms` },
    }),
    linePlot({
      title: 'Streams open',
      unit: 'at a time',
      x,
      shade,
      lines: [{ name: 'open', points: courseOf(series, ({ open }) => open) }],
    }),
    linePlot({
      title: 'Tokens',
      unit: 'a second, four characters each',
      x,
      shade,
      lines: [{ name: 'tokens', points: courseOf(series, ({ tokensPerS }) => tokensPerS) }],
    }),
  ];
}

/** One plot for each measure: they differ by orders of magnitude. */
function percentilePlots({ times, goodput }: Report): string[] {
  return Object.entries(times).flatMap(([measure, each]) => {
    if (each === undefined) return [];
    const limit = goodput.slo[measure];
    const percentiles = each.percentiles.map(([percentile, ms]) => [percentile / 100, ms] as const);
    return [
      percentilePlot({
        title: `Percentiles: ${each.name}`,
        unit: 'ms',
        lines: [{ name: `${formatNumber(each.count)} measured`, count: each.count, percentiles }],
        limit: limit === undefined ? undefined : { at: limit, label: `SLO ${limit} ms` },
      }),
    ];
  });
}

function timesTable({ times }: Report): string {
  const rows = Object.values(times).flatMap((each) =>
    each === undefined
      ? []
      : [[each.name, ...[each.mean, each.p50, each.p90, each.p99, each.p999, each.max].map(formatMs), formatNumber(each.count)]],
  );
  return rows.length === 0
    ? ''
    : `<h2>Times</h2>${tableHtml({ columns: ['milliseconds', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'count'], rows })}`;
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

export function reportHtml(report: Report): string {
  const { verdict, target, started_at, plan } = report;
  const plots = report.turns.ended === 0 ? [] : [...coursePlots(report), ...percentilePlots(report)].filter((plot) => plot !== '');
  const isGood = verdict.exit_code === 0;
  return pageHtml(
    `Load test of ${target.url}`,
    `<h1>Load test of ${escaped(target.url)}</h1>
<p class="muted">${escaped(started_at)} · model ${escaped(target.model ?? 'unknown')} · ${escaped(target.keys.join(', '))}</p>
<div class="verdict${isGood ? '' : ' bad'}">${verdict.words.map((each) => `<p>${escaped(each)}</p>`).join('')}</div>
${summary(report)}
<h2>Plots</h2><div class="plots">${plots.join('\n') || '<p>No turn was answered, so there is nothing to draw.</p>'}</div>
${timesTable(report)}
${namedTable('Wrong streams', report.faults)}
${namedTable('Errors', report.errors)}
<h2>What was asked</h2><p><code>${escaped(JSON.stringify(plan))}</code></p>
<h2>Run it again</h2><pre><code>${escaped(report.command)}</code></pre>`,
  );
}
