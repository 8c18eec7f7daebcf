/** What a drill found, as text. Pure. */
import { markdownOf, median } from '../report/table.ts';
import type { Round } from './round.ts';

const seconds = (ms: number | undefined) => (ms === undefined ? 'never' : (ms / 1_000).toFixed(1));
const megabytes = (bytes: number) => Math.round(bytes / 1e6).toString();
const oldest = ({ lost }: Round) => Math.max(0, ...lost.map(({ ageMs }) => ageMs));

const COLUMNS: readonly (readonly [
  title: string,
  value: (round: Round) => number | undefined,
  shown: (value: number | undefined) => string,
])[] = [
  ['databases, MB', ({ databaseBytes }) => databaseBytes, (bytes) => megabytes(bytes ?? 0)],
  ['lost after, s', ({ livedMs }) => livedMs, seconds],
  ['taken over, s', ({ takenOverMs }) => takenOverMs, seconds],
  ['new host answers, s', ({ answersMs }) => answersMs, seconds],
  ['first turn, s', ({ firstTurnMs }) => firstTurnMs, seconds],
  ['first turn by way of another cell, s', ({ firstTurnViaOtherMs }) => firstTurnViaOtherMs, seconds],
  ['acknowledged before', ({ acknowledgedBefore }) => acknowledgedBefore, String],
  ['of these lost', ({ lost }) => lost.length, String],
  ['the oldest, s', oldest, seconds],
  ['violations', ({ violations }) => violations.length, String],
];

/** A row for each round, and the medians and the worst where there are several. */
export function drillTable(rounds: readonly Round[]): string {
  const row = (name: string, each: (values: readonly number[]) => number): string[] => [
    name,
    ...COLUMNS.map(([, value, shown]) => {
      const values = rounds.map(value);
      return shown(values.includes(undefined) ? undefined : Math.round(each(values as number[])));
    }),
  ];
  const rows = rounds.map((round, at) => [String(at + 1), ...COLUMNS.map(([, value, shown]) => shown(value(round)))]);
  const sums = rounds.length < 2 ? [] : [row('median', median), row('worst', (values) => Math.max(...values))];
  return markdownOf({ columns: ['round', ...COLUMNS.map(([title]) => title)], rows: [...rows, ...sums] });
}

/** Each violation in a line, with its round. */
export function violationLines(rounds: readonly Round[]): string[] {
  return rounds.flatMap(({ violations }, at) => violations.map((violation) => `round ${at + 1}: ${violation}`));
}
