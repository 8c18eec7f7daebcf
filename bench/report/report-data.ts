/** What `report.json` holds: everything that the report shows, so that it can be made anew from the file. */
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { projectDir } from '../load/compile.ts';
import type { Answer } from '../question.ts';
import type { Candidate } from '../servers/candidate.ts';
import { canPin } from '../servers/processes.ts';
import { type AgainstEarlier, againstEarlier } from '../workloads/against.ts';
import { type Behind, behindOf } from '../workloads/behind.ts';
import type { LeftOut, Outcome } from '../workloads/rounds.ts';
import { type Summary, summarize } from './report.ts';

/** Rises when somebody who reads the file has to know. */
export const FORMAT = 2;

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memory_bytes: number;
  readonly linux: string;
  readonly node: string;
  readonly pinned: boolean;
}

export type Server = Pick<Candidate, 'name' | 'what' | 'role' | 'versions' | 'keeps' | 'notes'>;

export interface Measured {
  readonly format: typeof FORMAT;
  readonly began: string;
  readonly commit?: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly quick: boolean;
  /** What each sync of a server took longer than the disk needs; 0: nothing. */
  readonly sync_delay_us: number;
  readonly candidates: readonly Server[];
  readonly outcomes: readonly Outcome[];
  readonly findings: readonly Answer[];
  readonly left_out: readonly LeftOut[];
}

/** The same with what follows from it. */
export interface Report extends Measured {
  readonly summaries: readonly Summary[];
  readonly behind: Behind;
  readonly against?: AgainstEarlier;
}

/** What a run found, as far as it is. */
export interface Results {
  readonly began: Date;
  /** What git called the source when the run began; undefined where it was not got by git. */
  readonly commit: string | undefined;
  readonly rounds: number;
  readonly quick: boolean;
  readonly syncDelayUs: number;
  readonly candidates: readonly Candidate[];
  readonly outcomes: Outcome[];
  readonly findings: Answer[];
  readonly leftOut: LeftOut[];
}

function machine(): Machine {
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

/** What git calls the source now; undefined where it was not got by git. */
export function sourceCommit(): string | undefined {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: projectDir(), encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Adds what follows from what was measured. */
export function reportOf(measured: Measured): Report {
  const against = againstEarlier(measured.outcomes);
  return {
    ...measured,
    summaries: summarize(measured.outcomes),
    behind: behindOf(measured),
    ...(against === undefined ? {} : { against }),
  };
}

export function reportOfRun({ began, commit, rounds, quick, syncDelayUs, candidates, outcomes, findings, leftOut }: Results): Report {
  return reportOf({
    format: FORMAT,
    began: began.toISOString(),
    ...(commit === undefined ? {} : { commit }),
    machine: machine(),
    rounds,
    quick,
    sync_delay_us: syncDelayUs,
    candidates: candidates.map(({ name, what, role, versions, keeps, notes }) => ({
      name,
      what,
      role,
      ...(versions === undefined ? {} : { versions }),
      ...(keeps === undefined ? {} : { keeps }),
      ...(notes === undefined ? {} : { notes }),
    })),
    outcomes,
    findings,
    left_out: [...leftOut, ...findings.flatMap((finding) => finding.leftOut ?? [])],
  });
}
