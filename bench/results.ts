/** What a run found, as far as it is: `report.json`, with every round of every server, and the same as tables in `report.md`. */
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Candidate } from './candidate.ts';
import { canPin } from './processes.ts';
import type { Answer } from './question.ts';
import { againstEarlier, tableOf } from './report.ts';
import type { LeftOut, Outcome } from './rounds.ts';
import { markdownOf } from './table.ts';

/** Of `report.json`: rises when somebody who reads it has to know. */
const FORMAT = 1;

export interface Results {
  readonly began: Date;
  readonly rounds: number;
  readonly quick: boolean;
  /** What each sync of a server took longer than the disk needs; 0: nothing. */
  readonly syncDelayUs: number;
  readonly candidates: readonly Candidate[];
  readonly outcomes: Outcome[];
  readonly findings: Answer[];
  readonly leftOut: LeftOut[];
}

function machine() {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    memory_bytes: totalmem(),
    linux: release(),
    node: process.versions.node,
    pinned: canPin,
  };
}

function heading({ began, rounds, quick, syncDelayUs }: Results): string {
  const { cores, processor, linux, node, pinned } = machine();
  return [
    `# Benchmark, ${began.toISOString().slice(0, 10)}${quick ? ' (quick: not for quoting)' : ''}`,
    '',
    `${cores} cores (${processor}), Linux ${linux}, Node ${node}; ${
      pinned ? 'server alone on one core' : 'NOT PINNED: figures of different runs do not compare'
    }.`,
    ...(syncDelayUs === 0
      ? []
      : [`SYNC_DELAY_US=${syncDelayUs}: each fsync of a server took so many microseconds longer than the disk needs.`]),
    `Medians of ${rounds} round${rounds === 1 ? '' : 's'}, interleaved. What the columns mean: bench/README.md.`,
  ].join('\n');
}

function serversOf(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ name, what, versions = {} }) => {
      const packages = Object.entries(versions).map(([library, version]) => `${library} ${version}`);
      return `- ${name}: ${[what, ...packages].join(', ')}`;
    })
    .join('\n');
}

function lineOf({ candidate, workload, why }: LeftOut): string {
  return `${candidate} is left out${workload === undefined ? '' : ` of ${workload}`}: ${why}`;
}

/** Writes both files into `outDir`; returns the tables. After every part, so that a run that is cut short leaves what it found. */
export function writeResults(results: Results, outDir: string): string {
  const { began, rounds, quick, syncDelayUs, candidates, outcomes, findings } = results;
  const leftOut = [...results.leftOut, ...findings.flatMap((finding) => finding.leftOut ?? [])];
  const parts = [
    heading(results),
    serversOf(candidates),
    ...(outcomes.length === 0 ? [] : [tableOf(outcomes), ...againstEarlier(outcomes)].map(markdownOf)),
    ...findings.map(({ name, what, tables }) => [`## ${name}: ${what}`, ...tables.map(markdownOf)].join('\n\n')),
    ...(leftOut.length === 0 ? [] : [leftOut.map(lineOf).join('\n')]),
  ];
  const report = `${parts.join('\n\n')}\n`;
  const data = {
    format: FORMAT,
    began: began.toISOString(),
    machine: machine(),
    rounds,
    quick,
    sync_delay_us: syncDelayUs,
    candidates: candidates.map(({ name, what, role, versions, keeps, notes }) => ({ name, what, role, versions, keeps, notes })),
    outcomes,
    findings: findings.map(({ name, what, tables, data, curves, warnings }) => ({ name, what, tables, curves, warnings, data })),
    left_out: leftOut,
  };
  writeFileSync(join(outDir, 'report.md'), report);
  writeFileSync(join(outDir, 'report.json'), `${JSON.stringify(data, undefined, 2)}\n`);
  return report;
}
