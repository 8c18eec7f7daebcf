/**
 * W6: what an open stream takes of memory, and a delta of CPU, when answers are slow. The first streams are open already when memory is
 * looked at first, so that what a server takes for itself, warm-up included, drops out.
 */

import { compileLoad } from '../../load/load.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range, sum } from '../../report/table.ts';
import type { Candidate } from '../../servers/candidate.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';
import { inOrderOf, type LeftOut, reasonOf } from '../../workloads/rounds.ts';
import { type Step, streamsThatFit, type Watched, watchStreams } from './slow-streams.ts';

const KB_MAX = 24;
const TARGET = `≤ ${KB_MAX} KB an open stream`;
/** More than the seconds from the first opening to the last look, on a busy machine as well. */
const DELTAS = 90;
const STREAMS = 4_000;
/** The part that is open at the first look. */
const FIRST_SHARE = 1 / 4;
/** A server that comes to this cold takes several times as long over a turn. */
const FIRST_WITHIN_S = 3.5;
const OTHERS_WITHIN_S = 6;
const FIRST_LOOK_MS = 1_500;
const LAST_LOOK_MS = 4_000;
const QUICK_DIVISOR = 10;

/** A quick run opens fewer in less time: that many a second all the same. */
function stepsOf({ openStreams = STREAMS }: Candidate, quick: boolean): readonly Step[] {
  const all = streamsThatFit(openStreams);
  const share = (part: number, withinS: number, lookMs: number): Step => ({
    streams: Math.round((all * part) / (quick ? QUICK_DIVISOR : 1)),
    perSecond: (all * part) / withinS,
    lookMs,
  });
  return [share(FIRST_SHARE, FIRST_WITHIN_S, FIRST_LOOK_MS), share(1 - FIRST_SHARE, OTHERS_WITHIN_S, LAST_LOOK_MS)];
}

interface Found {
  readonly candidate: Candidate;
  readonly rounds: Watched[];
}

/** A round of one server. A peer that fails is left out of it all. @throws what the others threw */
async function playRound({ candidate, rounds }: Found, work: () => Promise<Watched>): Promise<LeftOut | undefined> {
  try {
    rounds.push(await work());
    return undefined;
  } catch (error) {
    if (candidate.role !== 'peer') throw error;
    const why = reasonOf(error);
    process.stderr.write(`${candidate.name} is left out of W6: ${why}\n`);
    return { candidate: candidate.name, workload: 'W6', why };
  }
}

const COLUMNS = ['server', 'streams', 'KB a stream', 'range', 'RSS MB', 'CPU µs a delta', 'range', 'broken', 'target'];

/** Memory that the streams between the first look and the last took, each. */
function kbAStream({ looks }: Watched): number {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  return (last.rssBytes - first.rssBytes) / 1e3 / (last.streams - first.streams);
}

function brokenOf(rounds: readonly Watched[]): number {
  return sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)));
}

function rowOf({ candidate, rounds }: Found): string[] {
  const kb = rounds.map(kbAStream);
  const last = rounds.flatMap(({ looks }) => looks.slice(-1));
  const cpu = last.map(({ cpuUsPerDelta }) => cpuUsPerDelta);
  return [
    candidate.name,
    (last[0]?.streams ?? 0).toLocaleString('en-US'),
    digits(median(kb)),
    range(kb),
    digits(median(last.map(({ rssBytes }) => rssBytes / 1e6))),
    digits(median(cpu)),
    range(cpu),
    `${brokenOf(rounds)}`,
    candidate.role === 'limit' ? 'the limit' : candidate.role === 'peer' ? '' : TARGET,
  ];
}

async function measure({ candidates, onStep, outDir, quick, rounds }: QuestionScene): Promise<Finding> {
  const program = compileLoad(outDir);
  const found: Found[] = candidates.map((candidate) => ({ candidate, rounds: [] }));
  const leftOut: LeftOut[] = [];
  await withModel(outDir, async ({ origin }) => {
    for (let round = 0; round < rounds; round++) {
      for (const entry of inOrderOf([...found], round)) {
        const { candidate } = entry;
        onStep(`W6: ${candidate.name} in round ${round + 1} of ${rounds}`);
        const watch = { name: 'W6', steps: stepsOf(candidate, quick), deltas: DELTAS, program, upstream: origin, outDir };
        const failed = await playRound(entry, () => watchStreams(candidate, watch));
        if (failed === undefined) continue;
        leftOut.push(failed);
        found.splice(found.indexOf(entry), 1);
      }
    }
  });
  const data = found.map(({ candidate, rounds: measured }) => ({ server: candidate.name, rounds: measured }));
  const warnings = found.flatMap(({ candidate: { name, role }, rounds: measured }) => [
    ...(role === 'service' ? missedBy(`An open stream of ${name}`, median(measured.map(kbAStream)), KB_MAX, 'KB') : []),
    ...brokenAmong(name, brokenOf(measured)),
  ]);
  return { tables: [{ columns: COLUMNS, rows: found.map(rowOf) }], warnings, data, leftOut };
}

export const openStreams: Question = {
  name: 'W6',
  what: 'memory of an open stream',
  asks: () => true,
  expectedSeconds: ({ candidates, quick, rounds }) => candidates.length * rounds * (quick ? 10 : 24),
  measure,
};
