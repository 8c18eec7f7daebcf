/** The service beside an earlier build of itself (`--against`): a table of all figures, and in words which of them differ. Pure. */

import { digits, median, range } from '../report/table.ts';
import { EARLIER } from '../servers/candidate.ts';
import { type Comparison, compare } from './comparison.ts';
import type { Outcome } from './rounds.ts';

const COLUMNS = ['workload', 'figure', 'earlier', 'now', 'unit', 'now ÷ earlier', 'by round', 'says'];

export type AgainstEarlier = NonNullable<ReturnType<typeof againstEarlier>>;

type Pair = ReturnType<typeof pairsOf>[number];

function pairsOf(outcomes: readonly Outcome[]) {
  return outcomes.flatMap((earlier) => {
    if (earlier.candidate !== EARLIER) return [];
    const now = outcomes.find(({ workload, candidate }) => workload.name === earlier.workload.name && candidate === 'service');
    return now === undefined ? [] : [{ workload: earlier.workload, comparisons: compare(now, earlier) }];
  });
}

function wordOf({ verdict, measure }: Comparison): string {
  return verdict === 'less' || verdict === 'more' ? measure[verdict] : verdict;
}

function rowsOf({ workload, comparisons }: Pair): string[][] {
  return comparisons.map((comparison) => {
    const { measure, one, other, ratios } = comparison;
    const unit = measure.name === 'CPU' ? `${measure.unit} a ${workload.unit}` : measure.unit;
    const ratio = [median(ratios).toFixed(2), range(ratios)];
    return [workload.name, measure.name, digits(other), digits(one), unit, ...ratio, wordOf(comparison)];
  });
}

function differenceOf(comparison: Comparison): string {
  return `${comparison.measure.name} ${median(comparison.ratios).toFixed(2)} × (${wordOf(comparison)})`;
}

function wordsOf(pairs: readonly Pair[]): string[] {
  const apart = ({ verdict }: Comparison): boolean => verdict === 'less' || verdict === 'more';
  const differ = pairs.filter(({ comparisons }) => comparisons.some(apart));
  const untold = pairs.filter(({ comparisons }) => comparisons.every(({ verdict }) => verdict === 'too few rounds to say'));
  const same = pairs.filter((pair) => !differ.includes(pair) && !untold.includes(pair));
  const names = (of: readonly Pair[]): string => of.map(({ workload }) => workload.name).join(', ');
  return [
    ...differ.map(({ workload, comparisons }) => `${workload.name}: ${comparisons.filter(apart).map(differenceOf).join(', ')}.`),
    ...(same.length === 0 ? [] : [`No difference beyond the spread: ${names(same)}.`]),
    ...(untold.length === 0 ? [] : [`Too few rounds to tell a difference from the spread: ${names(untold)}.`]),
  ];
}

export function againstEarlier(outcomes: readonly Outcome[]) {
  const pairs = pairsOf(outcomes);
  if (pairs.length === 0) return undefined;
  return { table: { title: 'Beside the earlier build', columns: COLUMNS, rows: pairs.flatMap(rowsOf) }, words: wordsOf(pairs) };
}
