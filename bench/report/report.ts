/** From rounds to a table: medians and ratios to the raw relay. */

import { at } from '../load/load.ts';
import { EARLIER } from '../servers/candidate.ts';
import { aimsShown } from '../workloads/aims.ts';
import type { Outcome, Round } from '../workloads/rounds.ts';
import type { Workload } from '../workloads/workloads.ts';
import type { Table } from './table.ts';

/** Medians over the rounds; `broken` is the sum, because one broken stream is one too many. */
export interface Summary {
  readonly workload: string;
  readonly candidate: string;
  /** µs of server CPU per upstream token delivered, or per turn. */
  readonly cpu_us: number;
  readonly cpu_us_min: number;
  readonly cpu_us_max: number;
  /** To the raw relay of the same run; undefined when it was not measured. */
  readonly ratio: number | undefined;
  /** The same of peak memory. */
  readonly peak_ratio: number | undefined;
  readonly first_p50_ms: number;
  readonly first_p99_ms: number;
  readonly added_p50_ms: number | undefined;
  readonly added_p99_ms: number | undefined;
  readonly whole_p50_ms: number;
  readonly whole_p99_ms: number;
  readonly units_per_s: number;
  /** Upstream tokens per event that reached the client. */
  readonly merged: number;
  readonly idle_rss_bytes: number;
  readonly peak_rss_bytes: number;
  readonly broken: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value that this share (0 to 1) of the values does not exceed: the nearest rank. NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** What CPU time is divided by: upstream tokens (whether or not the server merged them) or turns, of whole streams. */
export function units(workload: Workload, round: Round): number {
  return workload.unit === 'delta' ? round.ok * workload.tokens : round.ok;
}

/** Medians of every outcome; the relay's outcome of the same workload is what ratios and added latency refer to. */
export function summarize(outcomes: readonly Outcome[]): Summary[] {
  return outcomes.map((outcome) => {
    const { workload, rounds } = outcome;
    const base = outcomes.find((other) => other.workload.name === workload.name && other.candidate === 'relay');
    const cpuOf = (of: Outcome): number[] => of.rounds.map((round) => round.cpu_ns / 1e3 / units(workload, round));
    const firstOf = (of: Outcome, share: 0.5 | 0.99): number => median(of.rounds.map(({ first_ms }) => at(first_ms, share)));
    const wholeOf = (share: 0.5 | 0.99): number => median(rounds.map(({ whole_ms }) => at(whole_ms, share)));
    const added = (share: 0.5 | 0.99): number | undefined =>
      base === undefined ? undefined : firstOf(outcome, share) - firstOf(base, share);
    const cpu = cpuOf(outcome);
    return {
      workload: workload.name,
      candidate: outcome.candidate,
      cpu_us: median(cpu),
      cpu_us_min: Math.min(...cpu),
      cpu_us_max: Math.max(...cpu),
      ratio: base === undefined ? undefined : median(cpu) / median(cpuOf(base)),
      peak_ratio: base === undefined ? undefined : outcome.peak_rss_bytes / base.peak_rss_bytes,
      first_p50_ms: firstOf(outcome, 0.5),
      first_p99_ms: firstOf(outcome, 0.99),
      added_p50_ms: added(0.5),
      added_p99_ms: added(0.99),
      whole_p50_ms: wholeOf(0.5),
      whole_p99_ms: wholeOf(0.99),
      units_per_s: median(rounds.map((round) => units(workload, round) / round.wall_s)),
      merged: median(rounds.map((round) => (round.ok * workload.tokens) / round.deltas)),
      idle_rss_bytes: outcome.idle_rss_bytes,
      peak_rss_bytes: outcome.peak_rss_bytes,
      broken: rounds.reduce((sum, round) => sum + round.broken, 0),
    };
  });
}

const COLUMNS = [
  'workload',
  'server',
  'CPU µs',
  'per',
  'range',
  '× relay',
  'first delta p50 / p99 ms',
  'added p50 / p99 ms',
  'whole turn p50 / p99 ms',
  'per s',
  'tokens an event',
  'idle / peak MB',
  'broken',
  'target',
];

/** Targets are the service's own. */
function isService(candidate: string): boolean {
  return candidate === EARLIER || candidate.startsWith('service');
}

function pair(one: number, other: number): string {
  return `${one.toFixed(2)} / ${other.toFixed(2)}`;
}

/** The table of one run, a row per workload and candidate. */
export function tableOf(outcomes: readonly Outcome[]): Table {
  const summaries = summarize(outcomes);
  const rows = summaries.map((s, i) => {
    const workload = outcomes[i]?.workload;
    const isRelay = s.candidate === 'relay';
    const added = isRelay || s.added_p50_ms === undefined || s.added_p99_ms === undefined ? '' : pair(s.added_p50_ms, s.added_p99_ms);
    return [
      s.workload,
      s.candidate,
      digits(s.cpu_us),
      workload?.unit ?? '',
      `${digits(s.cpu_us_min)} to ${digits(s.cpu_us_max)}`,
      s.ratio === undefined ? '' : s.ratio.toFixed(2),
      pair(s.first_p50_ms, s.first_p99_ms),
      added,
      pair(s.whole_p50_ms, s.whole_p99_ms),
      Math.round(s.units_per_s).toLocaleString('en-US'),
      s.merged.toFixed(1),
      `${(s.idle_rss_bytes / 1e6).toFixed(0)} / ${(s.peak_rss_bytes / 1e6).toFixed(0)}`,
      String(s.broken),
      isRelay ? 'the limit' : isService(s.candidate) ? aimsShown(workload?.aims ?? []) : '',
    ];
  });
  return { columns: COLUMNS, rows };
}

/** Three digits or more: 0.12, 12.3, 123. */
export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Smallest and largest: `0.12 to 12.3`. */
export function range(values: readonly number[]): string {
  return `${digits(Math.min(...values))} to ${digits(Math.max(...values))}`;
}
