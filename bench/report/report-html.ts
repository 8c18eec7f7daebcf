/** The report as one self-contained HTML page: plots first, then what is behind, then the tables. Pure. */
import { escaped, pageHtml, tableHtml } from '../page/html.ts';
import type { Outcome } from '../workloads/rounds.ts';
import { workloadTable } from './report.ts';
import type { Report } from './report-data.ts';
import { behindSections, leftOutShown, machineShown, roundsShown, versionsShown } from './report-markdown.ts';
import { curvePlot, type Hues, huesOf, workloadPlots } from './report-plots.ts';

/** A ratio to the relay from here on is shaded, and once more. */
const LEVELS = [2, 10, 100] as const;

function sentences(lines: readonly string[], mark = ''): string {
  return `<ul class="sentences ${mark}">${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;
}

function many(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

function head(report: Report): string {
  const { began, quick, machine, behind, left_out: leftOut, candidates } = report;
  const counted = [
    ...(behind.broken.length === 0 ? [] : [`${many(behind.broken.length, 'figure')} with broken streams`]),
    ...(behind.aims.length === 0 ? [] : [`${many(behind.aims.length, 'aim')} missed`]),
    ...(behind.warnings.length === 0 ? [] : [`${many(behind.warnings.length, 'warning')} of the questions`]),
    ...(behind.peers.length === 0 ? [] : [`peers do something better in ${many(behind.peers.length, 'workload')}`]),
  ];
  const mark = behind.broken.length > 0 ? ' bad' : counted.length > 0 ? ' wait' : '';
  const words =
    counted.length === 0 ? 'Nothing is behind, as far as this run can tell.' : `${counted.join(', ')}: <a href="#behind">which</a>.`;
  const facts: readonly (readonly [string, string])[] = [
    ['Machine', machineShown(machine)],
    ['Figures', roundsShown(report)],
    ['Servers', candidates.map(({ name }) => name).join(', ')],
    ...(leftOut.length === 0 ? [] : [['Left out', leftOut.map(leftOutShown).join('; ')] as const]),
  ];
  return `<h1>Benchmark of ${escaped(began.slice(0, 10))}${quick ? ' <small>quick: not for quoting</small>' : ''}</h1>
<dl>${facts.map(([what, fact]) => `<dt>${what}</dt><dd>${escaped(fact)}</dd>`).join('')}</dl>
<div class="verdict${mark}"><p>${words}</p></div>`;
}

function workloadsOf({ outcomes }: Report): (readonly [string, readonly Outcome[]])[] {
  const names = [...new Set(outcomes.map(({ workload }) => workload.name))];
  return names.map((name) => [name, outcomes.filter(({ workload }) => workload.name === name)]);
}

function navigation(report: Report): string {
  const links = [
    ...workloadsOf(report).map(([name]) => name),
    ...(report.against === undefined ? [] : ['against']),
    ...(report.findings.some(({ curves = [] }) => curves.length > 0) ? ['growth'] : []),
    'behind',
    'tables',
  ];
  return `<nav aria-label="Sections">${links.map((link) => `<a href="#${escaped(link)}">${escaped(link)}</a>`).join('')}</nav>`;
}

/** All servers and workloads at a glance. */
function overview({ summaries, candidates, outcomes }: Report): string {
  if (!summaries.some(({ ratio }) => ratio !== undefined)) return '';
  const workloads = [...new Set(outcomes.map(({ workload }) => workload.name))];
  const rows = candidates.map(({ name }) => {
    const cells = workloads.map((workload) => {
      const ratio = summaries.find((summary) => summary.workload === workload && summary.candidate === name)?.ratio;
      const level = ratio === undefined ? 0 : LEVELS.filter((each) => ratio >= each).length;
      return `<td class="number level-${level}">${ratio === undefined ? '–' : ratio.toFixed(ratio < 10 ? 2 : 0)}</td>`;
    });
    return `<tr><th scope="row">${escaped(name)}</th>${cells.join('')}</tr>`;
  });
  const columns = workloads.map((name) => `<th scope="col" class="number"><a href="#${escaped(name)}">${escaped(name)}</a></th>`);
  return `<h2>CPU at a glance</h2><p class="muted">CPU of each server for the same work, × the raw relay's; shaded from ${LEVELS.join(', ')} × on. – was not measured.</p>
<div class="scroll fit" role="region" tabindex="0" aria-label="CPU by server and workload"><table><thead><tr><th scope="col">server</th>${columns.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function workloadSections(report: Report, hues: Hues): string {
  const sections = workloadsOf(report).map(([name, outcomes]) => {
    const what = outcomes[0]?.workload.what ?? '';
    return `<section id="${escaped(name)}"><h3>${escaped(name)} <small>${escaped(what)}</small></h3><div class="plots">${workloadPlots(outcomes, hues).join('\n')}</div></section>`;
  });
  if (sections.length === 0) return '';
  return `<h2>Workloads</h2><p class="muted">A bar is the median of the rounds, the thin line its smallest and largest round; the dashed line is the relay. Latency: each nine further right is ten times rarer, and the last point is the slowest of a round. A pointer on a bar or a line tells its figures. (wide): the largest round is over 1.5 times the smallest; each * is another time that the rounds were played because of it.</p>${sections.join('\n')}`;
}

function against({ against: found }: Report): string {
  return found === undefined
    ? ''
    : `<section id="against"><h2>Beside the earlier build</h2>${sentences(found.words)}${tableHtml(found.table)}</section>`;
}

function growth({ findings }: Report, hues: Hues): string {
  // All in one grid: a question of one curve would leave half a row empty.
  const plots = findings.flatMap(({ curves = [] }) => curves.map((curve) => curvePlot(curve, hues)).filter((plot) => plot !== ''));
  return plots.length === 0 ? '' : `<section id="growth"><h2>Curves</h2><div class="plots">${plots.join('\n')}</div></section>`;
}

function behind(report: Report): string {
  const sections = behindSections(report.behind).map(([title, lines]) => {
    const mark = lines === report.behind.broken || lines === report.behind.aims ? 'bad' : lines === report.behind.warnings ? 'wait' : '';
    return `<h3>${escaped(title)}</h3>${sentences(lines, mark)}`;
  });
  return `<section id="behind"><h2>What is behind</h2>${sections.join('\n') || '<p>Nothing that this run can tell.</p>'}</section>`;
}

function tables(report: Report): string {
  const { outcomes, findings, candidates, left_out: leftOut } = report;
  const servers = {
    columns: ['server', 'is', 'keeps of a turn', 'packages', 'notes'],
    rows: candidates.map((server) => [server.name, server.what, server.keeps ?? '', versionsShown(server), server.notes ?? '']),
  };
  return [
    '<section id="tables"><h2>Tables</h2>',
    ...(outcomes.length === 0 ? [] : ['<h3>Workloads</h3>', tableHtml(workloadTable(outcomes))]),
    ...findings.map(
      ({ name, what, tables: all }) => `<h3>${escaped(name)} <small>${escaped(what)}</small></h3>${all.map(tableHtml).join('')}`,
    ),
    '<h3>Servers</h3>',
    tableHtml(servers),
    ...(leftOut.length === 0 ? [] : ['<h3>Left out</h3>', sentences(leftOut.map(leftOutShown))]),
    '<p class="muted">What the columns mean, how it was measured and what it cannot tell: bench/README.md.</p></section>',
  ].join('\n');
}

export function reportHtml(report: Report): string {
  const hues = huesOf(report.candidates);
  const body = [
    head(report),
    navigation(report),
    overview(report),
    workloadSections(report, hues),
    against(report),
    growth(report, hues),
    behind(report),
    tables(report),
  ];
  return pageHtml(`Benchmark of ${report.began.slice(0, 10)}`, body.join('\n'));
}
