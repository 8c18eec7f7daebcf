/** The report for the terminal. */
import { formatMs, formatNumber, formatPercent } from './failure.ts';
import type { Named, Report, Times } from './report.ts';

/** Aligns a table: the first column left, the others right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

function timesTable(times: readonly Times[]): string[] {
  const head = ['milliseconds', 'p50', 'p90', 'p99', 'p99.9', 'max', 'count'];
  const rows = times.map(({ name, p50, p90, p99, p999, max, count }) => [
    name,
    ...[p50, p90, p99, p999, max].map(formatMs),
    formatNumber(count),
  ]);
  return columns([head, ...rows]);
}

function namedLines(all: readonly Named[]): string[] {
  return all.flatMap(({ name, count, words, example }) => {
    const where = example.request_id === 'none' ? example.message : `${example.message} · request ${example.request_id}`;
    return [`${formatNumber(count)} × ${name}${words === undefined ? '' : `: ${words}`}`, `    for example ${where}`];
  });
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function visitLines({ visits }: Report): string[] {
  return visits.flatMap(({ kind, called_no_action: withoutCall }) =>
    withoutCall === 0
      ? []
      : [
          `${formatNumber(withoutCall)} ${kind} visits had nothing to answer: the model called no action. Give texts that make it (--texts, "${kind}: …").`,
        ],
  );
}

/** One line in place of a table of zeros. */
function nothingCame({ errors }: Report): string {
  const [first] = errors;
  if (first === undefined) return 'No turn was answered: give the run longer (--duration).';
  return `No turn was answered: ${first.name}, ${first.example.message.replace(/\.$/, '')}${first.words === undefined ? '' : `. What to do: ${first.words}`}.`;
}

export function reportText(report: Report): string {
  const { turns, goodput, pauses, verdict, load_tester: own } = report;
  const times = Object.values(report.times).filter((each) => each !== undefined);
  const slo = Object.entries(goodput.slo).map(([name, limit]) => `${name} ≤ ${limit} ms`);
  const head = [
    `${formatNumber(turns.ended)} turns in ${report.seconds.toFixed(0)} s (${(turns.ended / Math.max(1, report.seconds)).toFixed(1)} a second), ${formatNumber(turns.peak_open)} open at once at most, ${formatNumber(report.tokens_per_s)} tokens a second`,
    `${formatNumber(turns.whole)} whole, ${formatNumber(turns.faulty)} with a wrong stream, ${formatNumber(turns.ended - turns.whole - turns.faulty)} with an error${turns.recovered > 0 ? ` (${formatNumber(turns.recovered)} of them whole after re-attaching)` : ''}`,
    `goodput ${formatPercent(goodput.share)} of ${formatNumber(goodput.judged)} turns (asked for: ${formatPercent(goodput.aim)}; whole, without error${slo.length === 0 ? '' : `, ${slo.join(', ')}`})`,
  ];
  const pauseLines =
    pauses.count === 0
      ? []
      : [
          `${formatNumber(pauses.count)} times a stream said nothing for over ${pauses.over_ms} ms in the middle of its answer; the longest: ${pauses.example?.message} · request ${pauses.example?.request_id}`,
        ];
  const lines = [
    ...(turns.ended === 0 ? [nothingCame(report)] : [...head, ...(times.length === 0 ? [] : ['', ...timesTable(times)])]),
    ...section('Wrong streams', namedLines(report.faults)),
    ...section('Errors', namedLines(report.errors)),
    ...section('Pauses', pauseLines),
    ...section('Visits', visitLines(report)),
    ...section('This load tester', own.words === undefined ? [] : [own.words]),
    '',
    ...verdict.words,
    '',
    `Again: ${report.command}`,
  ];
  return `${lines.join('\n')}\n`;
}
