/** Two servers of the same workload side by side, figure by figure, and whether they differ by more than the spread. Pure. */
import { at } from '../load/load.ts';
import { digits, median } from '../report/table.ts';
import type { Outcome, Round } from './rounds.ts';
import { units, type Workload } from './workloads.ts';

/** A figure of a round, and how it is spoken of. The smaller, the better. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly of: (workload: Workload, round: Round) => number;
  /** What a server is whose figure is smaller, or larger. */
  readonly less: string;
  readonly more: string;
}

const SOONER = { unit: 'ms', less: 'sooner', more: 'later' } as const;

export const MEASURES: readonly Measure[] = [
  { name: 'CPU', unit: 'µs', of: (workload, round) => round.cpu_ns / 1e3 / units(workload, round), less: 'cheaper', more: 'dearer' },
  { name: 'first delta p50', of: (_, { first_ms }) => at(first_ms, 0.5), ...SOONER },
  { name: 'first delta p99', of: (_, { first_ms }) => at(first_ms, 0.99), ...SOONER },
  { name: 'whole turn p50', of: (_, { whole_ms }) => at(whole_ms, 0.5), ...SOONER },
  { name: 'whole turn p99', of: (_, { whole_ms }) => at(whole_ms, 0.99), ...SOONER },
  { name: 'peak memory', unit: 'MB', of: (_, { peak_rss_bytes }) => peak_rss_bytes / 1e6, less: 'smaller', more: 'larger' },
];

/** The figure with its unit; CPU has what it was divided by. */
export function shownFigure({ name, unit }: Measure, value: number, workload: Workload): string {
  return `${digits(value)} ${unit}${name === 'CPU' ? ` a ${workload.unit}` : ''}`;
}

export type Verdict = 'less' | 'more' | 'within the spread' | 'too few rounds to say';

/** Fewer rounds have no spread to speak of. */
export const ROUNDS_TO_JUDGE = 3;

/**
 * What the ratios of the rounds say. Two servers differ when every round agrees on which of them has less, and the median differs from 1 by
 * more than the ratios differ from one another, to either side: of many figures that only scatter, some have all rounds on one side.
 */
export function verdictOf(ratios: readonly number[]): Verdict {
  if (ratios.length < ROUNDS_TO_JUDGE) return 'too few rounds to say';
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  const isAgreed = least > 1 || most < 1;
  if (!isAgreed || Math.abs(median(ratios) - 1) <= (most - least) / 2) return 'within the spread';
  return least > 1 ? 'more' : 'less';
}

export type Comparison = ReturnType<typeof compare>[number];

export function compare(one: Outcome, other: Outcome) {
  return MEASURES.map((measure) => {
    const [ones, others] = [one, other].map(({ workload, rounds }) => rounds.map((round) => measure.of(workload, round)));
    const ratios = (ones ?? []).flatMap((value, round) => {
      const beside = others?.[round];
      return beside === undefined ? [] : [value / beside];
    });
    return { measure, one: median(ones ?? []), other: median(others ?? []), ratios, verdict: verdictOf(ratios) };
  });
}
