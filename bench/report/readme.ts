/** The parts of README.md and docs/scaling.md that tell figures: made of the latest result that is kept in bench/results, so that they cannot grow old. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../arguments.ts';
import { projectDir } from '../load/compile.ts';
import { coresFigures } from './cores.ts';
import type { Report, Server } from './report-data.ts';
import { readReport } from './report-file.ts';
import { machineShown } from './report-markdown.ts';
import { digits, markdownOf, whole } from './table.ts';

const RESULTS = 'bench/results';
const KEPT = ['report.json', 'report.html', 'report.md', 'cpu.svg'];
const [BEGIN, END] = ['<!-- figures: made by `npm run bench -- readme` -->', '<!-- end of figures -->'];

/** A figure of every server; the smaller, the better. */
interface Figure {
  readonly title: string;
  readonly unit: 'µs' | 'ms' | 'KB';
  readonly means: string;
  readonly of: (report: Report, server: string) => number | undefined;
}

function measured(workload: string, figure: 'cpu_us' | 'first_p50_ms'): Figure['of'] {
  return ({ summaries }, server) => summaries.find((each) => each.workload === workload && each.candidate === server)?.[figure];
}

/** A cell of a question's table, by its column's title. */
function asked(question: string, column: string): Figure['of'] {
  return ({ findings }, server) => {
    const table = findings.find(({ name }) => name === question)?.tables[0];
    const cell = table?.rows.find(([name]) => name === server)?.[table.columns.indexOf(column)];
    return cell === undefined || !/^[\d.]+$/.test(cell) ? undefined : Number(cell);
  };
}

const FIGURES: readonly Figure[] = [
  {
    title: 'long answers',
    unit: 'µs',
    means: 'W1: processor time a delta, 200 deltas an answer, 32 streams',
    of: measured('W1', 'cpu_us'),
  },
  { title: 'in bursts', unit: 'µs', means: 'W1B: the same, 8 deltas at a time', of: measured('W1B', 'cpu_us') },
  { title: 'everyday load', unit: 'µs', means: 'W2: the same, 500 streams, a delta each 20 ms', of: measured('W2', 'cpu_us') },
  { title: 'short turns', unit: 'µs', means: 'W3: processor time a turn of one token, 64 at a time', of: measured('W3', 'cpu_us') },
  {
    title: 'after a start',
    unit: 'µs',
    means: 'COLD: the same, the first 1,000 turns after ready',
    of: asked('COLD', 'first 1,000: CPU µs a turn'),
  },
  { title: 'one person', unit: 'ms', means: 'W4: first delta at the median, one client', of: measured('W4', 'first_p50_ms') },
  { title: 'an open stream', unit: 'KB', means: 'W6: memory', of: asked('W6', 'KB a stream') },
];

function shown(value: number | undefined, unit: string): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  return `${value >= 100 ? whole(value) : digits(value)} ${unit}`;
}

function rowOf(report: Report, figures: readonly Figure[], { name, what, role }: Server): string[] {
  const who = role === 'limit' ? 'raw relay (the limit)' : role === 'service' ? `**${what}**` : what;
  return [who, ...figures.map(({ of, unit }) => shown(of(report, name), unit))];
}

/** Where the service, asked by a client that draws text, has less than every peer, and where some have less. */
function standings(report: Report, figures: readonly Figure[]) {
  const peers = report.candidates.filter(({ role }) => role === 'peer');
  const all = figures.flatMap((figure) => {
    const own = figure.of(report, 'service');
    const others = peers.flatMap(({ name }) => {
      const value = figure.of(report, name);
      return value === undefined ? [] : [{ name, value }];
    });
    const sorted = others.toSorted((one, other) => one.value - other.value);
    const [best] = sorted;
    return own === undefined || best === undefined ? [] : [{ ...figure, own, best, less: sorted.filter(({ value }) => value < own) }];
  });
  return { ahead: all.filter(({ less }) => less.length === 0), behind: all.filter(({ less }) => less.length > 0) };
}

function bullets(report: Report, figures: readonly Figure[], folder: string): string[] {
  const { ahead, behind } = standings(report, figures);
  const first = ahead.map(({ title, own, unit, best }) => `${title} ${shown(own, unit)} (${best.name} ${shown(best.value, unit)})`);
  const less = behind.map(({ title, own, unit, less: peers }) => {
    return `- ${title}: ${shown(own, unit)}; less: ${peers.map(({ name, value }) => `${name} ${shown(value, unit)}`).join(', ')}.`;
  });
  const { aims, broken, warnings } = report.behind;
  const ours = (lines: readonly string[]): string[] => lines.filter((line) => /^\w+, service: /.test(line));
  const lists = [...less, ...[...ours(broken), ...ours(aims)].map((line) => `- ${line.replace(', service', '')}`)];
  const rest = warnings.length === 0 ? '' : ` Its questions warn of ${warnings.length} more things.`;
  return [
    ...(first.length === 0 ? [] : [`**Where the service is ahead** of every peer: ${first.join('; ')}. The nearest peer in brackets.`]),
    lists.length === 0
      ? 'In none of these is it behind.'
      : `**Where it is behind** a peer or misses its aim, asked by a client that draws text:\n\n${lists.join('\n')}`,
    `[All that is behind](${folder}/report.md#what-is-behind), also for a client that draws all components.${rest} [docs/performance.md](docs/performance.md) says where the time goes.`,
  ];
}

/** @param folder where the report is kept, from the root of the project */
export function readmeFigures(report: Report, folder: string): string {
  const figures = FIGURES.filter(({ of }) => report.candidates.some(({ name }) => of(report, name) !== undefined));
  const marks = '¹²³⁴⁵⁶⁷';
  const rounds = `${report.rounds} round${report.rounds === 1 ? '' : 's'}`;
  const columns = ['server', ...figures.map(({ title }, at) => `${title}${marks[at]}`)];
  const rows = report.candidates.filter(({ role }) => role !== 'earlier').map((server) => rowOf(report, figures, server));
  return [
    `![CPU time a delta and a turn, of the service and its peers](${folder}/cpu.svg)`,
    `Medians of ${rounds} in one run of ${report.began.slice(0, 10)}, on ${machineShown(report.machine)} Every server is warm, but where it says otherwise:`,
    markdownOf({ columns, rows }),
    `${figures.map(({ means }, at) => `${marks[at]} ${means}.`).join(' ')} All tables, versions, ranges and curves: [the report](${folder}/report.md), as [a page with plots](${folder}/report.html) and [for programs](${folder}/report.json).`,
    ...bullets(report, figures, folder),
  ].join('\n\n');
}

/** The pages that have such a part; undefined of a result that lacks what it is made of: the one before it is taken. */
const PAGES: Readonly<Record<string, (report: Report, folder: string) => string | undefined>> = {
  'README.md': readmeFigures,
  'docs/scaling.md': coresFigures,
};

/** Those pages as the latest kept result makes them, by their paths. @throws UsageError where one lacks the markers, or no result has it */
export function pagesMade(): readonly (readonly [path: string, text: string])[] {
  const folders = readdirSync(join(projectDir(), RESULTS)).toSorted().toReversed();
  const results = folders.map((each) => {
    const folder = `${RESULTS}/${each}`;
    return { folder, report: readReport(join(projectDir(), folder, 'report.json')) };
  });
  return Object.entries(PAGES).map(([path, made]) => {
    const text = readFileSync(join(projectDir(), path), 'utf8');
    const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
    if (begin < 0 || end < begin) throw new UsageError(`${path} needs the lines ${BEGIN} and ${END}`);
    const part = results.map(({ report, folder }) => made(report, folder)).find((each) => each !== undefined);
    if (part === undefined) throw new UsageError(`${RESULTS} holds no result for ${path}`);
    return [path, `${text.slice(0, begin)}${BEGIN}\n\n${part}\n\n${text.slice(end)}`];
  });
}

/** Keeps the files beside `file`, a report.json, as the result of its day where one is named, and writes the pages. @throws UsageError */
export function writePages(file: string | undefined): string {
  if (file !== undefined) {
    const folder = join(projectDir(), RESULTS, readReport(file).began.slice(0, 10));
    mkdirSync(folder, { recursive: true });
    for (const name of KEPT) copyFileSync(join(dirname(file), name), join(folder, name));
  }
  const pages = pagesMade();
  for (const [path, text] of pages) writeFileSync(join(projectDir(), path), text);
  return pages.map(([path]) => path).join(', ');
}
