/** Loses a host and takes its cell over, round after round: `npm run drill`. Ends with 1 when a promise was broken. docs/backups.md explains it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDice, seedOfRun } from '../../tests/support/seeded.ts';
import { projectDir } from '../load/compile.ts';
import { markdownOf, median } from '../report/table.ts';
import { playRound, type Round } from './round.ts';

const HELP = `Loses a host under load, takes its cell over, and compares what was promised with what is there.

  npm run drill                    one round, about 40 seconds
  --rounds N           so many rounds, each with hosts, a Redis and a destination of its own (1)
  --organisations N    organisations beside the one that is used (20)
  --s3                 an S3 server as the destination of the replica instead of a folder
  --seed N             draws the same moments again (SEED, or one that is always the same)

Needs redis-server. LITESTREAM_BIN names a Litestream; without it the one of the package for tests is taken.`;

const ROUNDS_MAX = 1_000;
/** As many as cells are measured with. */
const ORGANISATIONS_MAX = 10_000;

class UsageError extends Error {}

function wholeNumber(name: string, text: string, max: number): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) throw new UsageError(`--${name} takes a whole number up to ${max}, not "${text}"`);
  return Number(text);
}

function readOptions() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({ options: { rounds: text, organisations: text, seed: text, s3: flag, help: flag } });
    return {
      rounds: wholeNumber('rounds', values.rounds ?? '1', ROUNDS_MAX),
      organisations: wholeNumber('organisations', values.organisations ?? '20', ORGANISATIONS_MAX),
      seed: values.seed === undefined ? seedOfRun() : wholeNumber('seed', values.seed, 2 ** 31),
      s3: values.s3 === true,
      help: values.help === true,
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

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

function drillTable(rounds: readonly Round[]): string {
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

function violationLines(rounds: readonly Round[]): string[] {
  return rounds.flatMap(({ violations }, at) => violations.map((violation) => `round ${at + 1}: ${violation}`));
}

async function main(): Promise<void> {
  const { rounds, organisations, seed, s3, help } = readOptions();
  if (help) {
    console.log(HELP);
    return;
  }
  const dice = createDice(seed);
  const out = join(projectDir(), 'bench', 'out');
  mkdirSync(out, { recursive: true });
  const played: Round[] = [];
  console.log(`${rounds} rounds, ${organisations} organisations, seed ${seed}, to ${s3 ? 'an S3 server' : 'a folder'}`);
  for (let round = 1; round <= rounds; round += 1) {
    const startedMs = performance.now();
    played.push(await playRound({ organisations, s3, dice }));
    writeFileSync(join(out, 'drill.json'), JSON.stringify({ seed, organisations, s3, rounds: played }, null, 2));
    console.log(`round ${round} of ${rounds}: ${Math.round((performance.now() - startedMs) / 1_000)} s`);
    for (const line of violationLines(played).filter((each) => each.startsWith(`round ${round}:`))) console.log(line);
  }
  console.log(`\n${drillTable(played)}\n\nWhat was lost, piece by piece: ${join(out, 'drill.json')}`);
  const broken = violationLines(played);
  console.log(broken.length === 0 ? 'No promise was broken.' : `${broken.length} promises were broken:\n${broken.join('\n')}`);
  if (broken.length > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof UsageError ? `drill: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
