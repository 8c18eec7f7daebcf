/** From rounds to a table: medians and ratios to the raw relay. */

import { at } from '../load/load.ts';
import { EARLIER } from '../servers/candidate.ts';
import { aimsShown } from '../workloads/aims.ts';
import type { Outcome } from '../workloads/rounds.ts';
import { units, type Workload } from '../workloads/workloads.ts';
import { type Column, digits, median, range, sum, type Table, tableOf, WITHIN_SPREAD, whole } from './table.ts';

export type Summary = ReturnType<typeof summarize>[number];

/**
 * Medians over the rounds of every outcome; `broken` is the sum, because one broken stream is one too many. Ratios and added latency refer to the
 * relay's outcome of the same workload and run, and are undefined where it was not measured. Added latency is the difference of two measurements: where
 * it is below zero it is 0, which is within their spread.
 */
export function summarize(outcomes: readonly Outcome[]) {
  return outcomes.map((outcome) => {
    const { workload, rounds } = outcome;
    const base = outcomes.find((other) => other.workload.name === workload.name && other.candidate === 'relay');
    const cpuOf = (of: Outcome): number[] => of.rounds.map((round) => round.cpu_ns / 1e3 / units(workload, round));
    const firstOf = (of: Outcome, share: 0.5 | 0.99): number => median(of.rounds.map(({ first_ms }) => at(first_ms, share)));
    const wholeOf = (share: 0.5 | 0.99): number => median(rounds.map(({ whole_ms }) => at(whole_ms, share)));
    const added = (share: 0.5 | 0.99): number | undefined =>
      base === undefined ? undefined : Math.max(0, firstOf(outcome, share) - firstOf(base, share));
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
      /** Upstream tokens per event that reached the client. */
      merged: median(rounds.map((round) => (round.ok * workload.tokens) / round.deltas)),
      idle_rss_bytes: outcome.idle_rss_bytes,
      peak_rss_bytes: outcome.peak_rss_bytes,
      broken: sum(rounds.map((round) => round.broken)),
      /** Those of `broken` that were told to come again. */
      refused: sum(rounds.map((round) => round.refused ?? 0)),
      streams: sum(rounds.map((round) => round.streams)),
    };
  });
}

type Row = Summary & { readonly played: Workload; readonly again: number };

/** Targets are the service's own. */
function isService(candidate: string): boolean {
  return candidate === EARLIER || candidate.startsWith('service');
}

function pair(one: number | undefined, other: number | undefined): string {
  return one === undefined || other === undefined ? '' : `${one.toFixed(2)} / ${other.toFixed(2)}`;
}

function addedShown(...values: readonly (number | undefined)[]): string {
  return values.flatMap((ms) => (ms === undefined ? [] : [ms === 0 ? WITHIN_SPREAD : ms.toFixed(2)])).join(' / ');
}

function targetOf({ candidate, played }: Row): string {
  return candidate === 'relay' ? 'the limit' : isService(candidate) ? aimsShown(played.aims) : '';
}

const COLUMNS: readonly Column<Row>[] = [
  ['workload', ({ workload }) => workload],
  ['server', ({ candidate }) => candidate],
  ['CPU µs', ({ cpu_us }) => digits(cpu_us)],
  ['per', ({ played }) => played.unit],
  ['range', ({ cpu_us_min, cpu_us_max, again }) => `${range([cpu_us_min, cpu_us_max])}${'*'.repeat(again)}`],
  ['× relay', ({ ratio }) => ratio?.toFixed(2) ?? ''],
  ['first delta p50 / p99 ms', ({ first_p50_ms, first_p99_ms }) => pair(first_p50_ms, first_p99_ms)],
  [
    'added p50 / p99 ms',
    ({ candidate, added_p50_ms, added_p99_ms }) => (candidate === 'relay' ? '' : addedShown(added_p50_ms, added_p99_ms)),
  ],
  ['whole turn p50 / p99 ms', ({ whole_p50_ms, whole_p99_ms }) => pair(whole_p50_ms, whole_p99_ms)],
  ['per s', ({ units_per_s }) => whole(units_per_s)],
  ['tokens an event', ({ merged }) => merged.toFixed(1)],
  ['idle / peak MB', ({ idle_rss_bytes: idle, peak_rss_bytes: peak }) => `${(idle / 1e6).toFixed(0)} / ${(peak / 1e6).toFixed(0)}`],
  ['broken', ({ broken }) => String(broken)],
  ['of them refused', ({ refused }) => String(refused)],
  ['target', targetOf],
];

export function workloadTable(outcomes: readonly Outcome[]): Table {
  const summaries = summarize(outcomes);
  return tableOf(
    COLUMNS,
    outcomes.flatMap(({ workload: played, again = 0 }, at) => {
      const summary = summaries[at];
      return summary === undefined ? [] : [{ ...summary, played, again }];
    }),
  );
}
