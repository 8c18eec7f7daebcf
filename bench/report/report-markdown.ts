/** The report as Markdown, for the terminal and for `report.md`. Pure. */
import type { Behind } from '../workloads/behind.ts';
import type { LeftOut } from '../workloads/rounds.ts';
import { workloadTable } from './report.ts';
import type { Machine, Report, Server } from './report-data.ts';
import { markdownOf } from './table.ts';

export function machineShown({ cores, processor, memory_bytes, linux, node, pinned }: Machine): string {
  return `${cores} cores (${processor}), ${(memory_bytes / 1e9).toFixed(0)} GB, Linux ${linux}, Node ${node}; ${
    pinned ? 'server alone on one core' : 'NOT PINNED: figures of different runs do not compare'
  }.`;
}

export function roundsShown({ rounds, commit, sync_delay_us: delay }: Report): string {
  const many = `Medians of ${rounds} round${rounds === 1 ? '' : 's'}, interleaved where a section says nothing else`;
  const slower = delay === 0 ? '' : ` SYNC_DELAY_US=${delay}: each fsync of a server took so many microseconds longer than the disk needs.`;
  return `${many}${commit === undefined ? '' : `, of commit ${commit}`}.${slower}`;
}

export function versionsShown({ versions = {} }: Server): string {
  return Object.entries(versions)
    .map(([library, version]) => `${library} ${version}`)
    .join(', ');
}

export function leftOutShown({ candidate, workload, why }: LeftOut): string {
  return `${candidate} is left out${workload === undefined ? '' : ` of ${workload}`}: ${why}`;
}

/** Headings of what the service is behind in, and the sentences of each; none is empty. */
export function behindSections({ aims, warnings, peers, broken }: Behind): readonly (readonly [string, readonly string[]])[] {
  const all: readonly (readonly [string, readonly string[]])[] = [
    ['Streams that broke: figures that are not to be quoted', broken],
    ['Aims that the service misses', aims],
    ['What the questions warn of', warnings],
    ['Peers that do better than the service, beyond the spread', peers],
  ];
  return all.filter(([, sentences]) => sentences.length > 0);
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** The whole report; what is behind stands last, where a terminal stops. */
export function reportMarkdown(report: Report): string {
  const { began, quick, candidates, outcomes, findings, left_out: leftOut, against, behind, machine } = report;
  const sections = behindSections(behind);
  const parts = [
    `# Benchmark, ${began.slice(0, 10)}${quick ? ' (quick: not for quoting)' : ''}`,
    `${machineShown(machine)}\n${roundsShown(report)} What the columns mean: bench/README.md.`,
    listOf(candidates.map((server) => `${server.name}: ${[server.what, versionsShown(server)].filter((text) => text !== '').join(', ')}`)),
    ...(outcomes.length === 0 ? [] : [markdownOf(workloadTable(outcomes))]),
    ...findings.map(({ name, what, tables }) => [`## ${name}: ${what}`, ...tables.map(markdownOf)].join('\n\n')),
    ...(leftOut.length === 0 ? [] : ['## Left out', listOf(leftOut.map(leftOutShown))]),
    ...(against === undefined ? [] : ['## Beside the earlier build', markdownOf(against.table), listOf(against.words)]),
    '## What is behind',
    ...(sections.length === 0 ? ['Nothing that this run can tell.'] : []),
    ...sections.map(([title, sentences]) => `${title}:\n\n${listOf(sentences)}`),
  ];
  return `${parts.join('\n\n')}\n`;
}
