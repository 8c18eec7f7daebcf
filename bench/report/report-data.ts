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

export type Machine = ReturnType<typeof machine>;

export type Server = Pick<Candidate, 'name' | 'what' | 'role' | 'versions' | 'keeps' | 'notes'>;

export interface Measured {
  readonly format: typeof FORMAT;
  readonly began: string;
  readonly commit?: string | undefined;
  readonly machine: Machine;
  readonly rounds: number;
  readonly quick: boolean;
  /** What each sync of a server took longer than the disk needs; 0: nothing. */
  readonly sync_delay_us: number;
  readonly candidates: readonly Server[];
  readonly outcomes: Outcome[];
  readonly findings: Answer[];
  readonly left_out: LeftOut[];
}

/** The same with what follows from it. */
export interface Report extends Measured {
  readonly summaries: readonly Summary[];
  readonly behind: Behind;
  readonly against?: AgainstEarlier;
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

/** What a run on this machine has found when it begins: nothing. */
export function emptyRun(
  candidates: readonly Candidate[],
  run: Pick<Measured, 'commit' | 'rounds' | 'quick' | 'sync_delay_us' | 'left_out'>,
): Measured {
  return {
    format: FORMAT,
    began: new Date().toISOString(),
    machine: machine(),
    candidates: candidates.map(({ name, what, role, versions, keeps, notes }) => {
      return JSON.parse(JSON.stringify({ name, what, role, versions, keeps, notes })) as Server;
    }),
    outcomes: [],
    findings: [],
    ...run,
  };
}
