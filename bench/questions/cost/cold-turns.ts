/** COLD: what the first turns of a fresh process cost, after it said that it is ready, beside what they cost once it is warm. */
import { at, compileLoad, type LoadResult, load } from '../../load/load.ts';
import { SETTLE_MS, spending } from '../../meters/cpu.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, isWide, median, spread, sum, tableOf } from '../../report/table.ts';
import type { Candidate } from '../../servers/candidate.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';
import { inOrderOf, type LeftOut, reasonOf } from '../../workloads/rounds.ts';
import { WINDOW_S, warmUntilStill, warmUs } from '../../workloads/warm-up.ts';
import { workloadNamed } from '../../workloads/workloads.ts';

const TURN = workloadNamed('W3');
/** Turns after ready that a column sums up. */
const FIRST = [100, 1_000, 10_000] as const;
const QUICK_FIRST = [100, 400] as const;
/** A server that takes longer over the turns of a column has no figure in it. */
const STEP_MAX_S = 20;
/** The first thousand are to cost no more than so many times as much as warm ones. */
const AIM = 1.3;
const ROUND_S = 22;

type Round = Awaited<ReturnType<typeof measureRound>>;

interface Found {
  readonly candidate: Candidate;
  readonly rounds: Round[];
}

/** A process that was just started does its first turns, then goes on until it is warm. */
async function measureRound(candidate: Candidate, program: string, upstream: string, { outDir, quick }: QuestionScene) {
  const target = await candidate.start({ model: TURN.model, streams: TURN.streams, upstream, outDir });
  const loaded = async (requests: number, seconds: number) => {
    const { result, ns } = await spending([target.process], () => load(program, outDir, TURN, target, { requests, seconds }));
    if (result.ok === 0) throw new Error(`no turn was whole: ${result.reasons[0] ?? 'nothing came'}`);
    return { ...result, cpuUs: sum(ns) / 1e3 };
  };
  try {
    const steps: (LoadResult & { readonly cpuUs: number })[] = [];
    /** For each of `FIRST`, µs a turn of all turns so far. */
    const first_us: number[] = [];
    for (const turns of quick ? QUICK_FIRST : FIRST) {
      const wanted = turns - sum(steps.map(({ streams }) => streams));
      steps.push(await loaded(wanted, STEP_MAX_S));
      if ((steps.at(-1)?.streams ?? 0) < wanted) break;
      first_us.push(sum(steps.map(({ cpuUs }) => cpuUs)) / sum(steps.map(({ ok }) => ok)));
    }
    const window = async (): Promise<number> => {
      const { cpuUs, ok } = await loaded(1_000_000, WINDOW_S);
      return cpuUs / ok;
    };
    const warm = await warmUntilStill(window, quick ? { maxS: 0 } : {});
    const first_p99_ms = Math.max(...steps.slice(0, 2).map(({ first_ms }) => at(first_ms, 0.99)));
    const [refused, broken] = [sum(steps.map((step) => step.refused)), sum(steps.map((step) => step.broken))];
    return { first_us, warm_us: warmUs(warm), is_steady: warm.is_steady, first_p99_ms, refused, broken };
  } finally {
    await target.stop();
  }
}

const brokenOf = ({ rounds }: Found): number => sum(rounds.map(({ broken }) => broken));
/** The first thousand beside warm ones, by round. */
const timesWarm = ({ rounds }: Found): number[] => rounds.map(({ first_us, warm_us }) => (first_us[1] ?? Number.NaN) / warm_us);

function firstColumns(turns: number, index: number): Column<Found>[] {
  const of = ({ rounds }: Found): number[] => rounds.flatMap(({ first_us }) => first_us.slice(index, index + 1));
  return spread<Found>(`first ${turns.toLocaleString('en-US')}: CPU µs a turn`, of).map(([title, cell]) => {
    return [title, (found) => (of(found).length === 0 ? '–' : cell(found))];
  });
}

function columnsOf(quick: boolean): readonly Column<Found>[] {
  return [
    ['server', ({ candidate }) => candidate.name],
    ...(quick ? QUICK_FIRST : FIRST).flatMap(firstColumns),
    ...spread<Found>('warm', ({ rounds }) => rounds.map(({ warm_us }) => warm_us)),
    ['came to rest', ({ rounds }) => `${rounds.filter(({ is_steady }) => is_steady).length} of ${rounds.length}`],
    ['first 1,000 ÷ warm', (found) => digits(median(timesWarm(found)))],
    ['their first delta p99 ms', ({ rounds }) => digits(median(rounds.map(({ first_p99_ms }) => first_p99_ms)))],
    ['refused', ({ rounds }) => `${sum(rounds.map(({ refused }) => refused))}`],
    ['broken', (found) => `${brokenOf(found)}`],
    ['target', ({ candidate: { role } }) => (role === 'service' ? `≤ ${AIM} ×` : '')],
  ];
}

function warningsOf(found: Found): string[] {
  const { candidate } = found;
  const what = `The first 1,000 turns of ${candidate.name}, beside a warm one`;
  return [
    ...(candidate.role === 'service' ? missedBy(what, median(timesWarm(found)), AIM, '×') : []),
    ...brokenAmong(candidate.name, brokenOf(found), 'turns'),
  ];
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const { candidates, onStep, outDir, quick, rounds } = scene;
  const found: Found[] = candidates.map((candidate) => ({ candidate, rounds: [] }));
  const leftOut: LeftOut[] = [];
  const program = compileLoad(outDir);
  await withModel(outDir, async ({ origin }) => {
    const play = async (entry: Found, step: string): Promise<void> => {
      onStep(`COLD: ${entry.candidate.name} in round ${step}`);
      try {
        entry.rounds.push(await measureRound(entry.candidate, program, origin, scene));
      } catch (error) {
        if (entry.candidate.role !== 'peer') throw error;
        leftOut.push({ candidate: entry.candidate.name, workload: 'COLD', why: reasonOf(error) });
        found.splice(found.indexOf(entry), 1);
      }
    };
    for (let round = 0; round < rounds; round++)
      for (const entry of inOrderOf([...found], round)) await play(entry, `${round + 1} of ${rounds}`);
    // Once more where the rounds scatter: all of them count.
    for (const entry of found.filter((each) => isWide(each.rounds.flatMap(({ first_us }) => first_us.slice(1, 2)))))
      for (let round = 0; round < rounds; round++) await play(entry, `${round + 1} of ${rounds}, again`);
  });
  const data = found.map(({ candidate, rounds: measured }) => ({ server: candidate.name, rounds: measured }));
  return { tables: [tableOf(columnsOf(quick), found)], warnings: found.flatMap(warningsOf), data, leftOut };
}

export const coldTurns: Question = {
  name: 'COLD',
  what: 'the first turns of a fresh process',
  asks: () => true,
  expectedSeconds: ({ candidates, quick, rounds }) => candidates.length * rounds * (quick ? 5 : ROUND_S + (FIRST.length * SETTLE_MS) / 1e3),
  measure,
};
