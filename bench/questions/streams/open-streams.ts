/**
 * W6: what an open stream takes of memory, and a delta of CPU, when answers are slow: many streams of a delta a second, opened as fast as
 * the server begins them. The first streams are open already when memory is looked at first, so that what a server takes for itself,
 * warm-up included, drops out.
 */
import { readFileSync } from 'node:fs';
import { compileLoad, type LoadResult, load } from '../../load/load.ts';
import { cpuNs, rssBytes } from '../../meters/cpu.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, spread, sum, tableOf, whole } from '../../report/table.ts';
import type { Candidate, Target } from '../../servers/candidate.ts';
import { pause } from '../../servers/processes.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';
import { inOrderOf, type LeftOut, reasonOf } from '../../workloads/rounds.ts';
import type { Workload } from '../../workloads/workloads.ts';

const KB_MAX = 24;
const TARGET = `≤ ${KB_MAX} KB an open stream`;
/** One a second: more than the seconds from the first opening to the last look, on a busy machine as well. */
const DELTAS = 90;
const MODEL = `fake-${DELTAS}-1000`;
const STREAMS = 4_000;
/** The part that is open at the first look. A server that comes to it cold takes several times as long over a turn. */
const STEPS = [
  { share: 1 / 4, withinS: 3.5, lookMs: 1_500 },
  { share: 3 / 4, withinS: 6, lookMs: 4_000 },
] as const;
const QUICK_DIVISOR = 10;
/**
 * Streams of one call of the load client; the next call waits until the model feeds those of the last. So no server is asked for more
 * turns than it can begin, however little of its core a busy machine leaves it; this service refuses more than 240 that wait.
 */
const OPENED_AT_ONCE = 200;
/** A server that takes longer to ask the model for so few is not waited for: its streams show as they are. */
const BEGUN_WITHIN_MS = 3_000;
const LOOK_FOR_BEGUN_MS = 20;
/** From the last opening until memory is read: what opening took for a moment is given back. */
const SETTLE_MS = 1_000;
const READ_EVERY_MS = 200;
/** Servers come to this cold, and some take their time over the first of so many. */
const STALL_S = 45;
/** Files of a server that are no streams: its program's, its data, connections that end. */
const OTHER_FILES = 500;
/** Each stream has a socket to its client and one to the model. */
const FILES_A_STREAM = 2;

/** What a server takes while so many streams are open, by the count of the model that feeds them. */
type Look = Awaited<ReturnType<Streams['look']>>;

type Watched = Awaited<ReturnType<typeof watchStreams>>;

interface Rig extends Pick<QuestionScene, 'outDir' | 'quick'> {
  readonly program: string;
  readonly upstream: string;
}

/** Of `wanted` streams, as many as the limit of open files allows a server to hold. */
export function streamsThatFit(wanted: number, limits: string = readFileSync('/proc/self/limits', 'utf8')): number {
  const hard = /^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? wanted : Math.min(wanted, Math.floor((Number(hard) - OTHER_FILES) / FILES_A_STREAM));
}

class Streams {
  readonly #loads: Promise<LoadResult>[] = [];
  readonly #target: Target;
  readonly #rig: Rig;

  constructor(target: Target, rig: Rig) {
    this.#target = target;
    this.#rig = rig;
  }

  /** Streams that the model feeds. */
  async #held(): Promise<number> {
    return Number(await (await fetch(`${this.#rig.upstream}/held`)).text());
  }

  async open(streams: number, perSecond: number): Promise<void> {
    for (let left = streams; left > 0; left -= OPENED_AT_ONCE) {
      const count = Math.min(left, OPENED_AT_ONCE);
      const wanted = (await this.#held()) + count;
      const rampMs = (count / perSecond) * 1_000;
      this.#begin(count, rampMs);
      await pause(rampMs);
      const giveUpAtMs = performance.now() + BEGUN_WITHIN_MS;
      while ((await this.#held()) < wanted && performance.now() < giveUpAtMs) await pause(LOOK_FOR_BEGUN_MS);
    }
  }

  #begin(streams: number, rampMs: number): void {
    const extent = { requests: streams, stallSeconds: STALL_S };
    const workload: Workload = {
      name: 'W6',
      what: 'a delta a second',
      model: MODEL,
      tokens: DELTAS,
      streams,
      requests: streams,
      rampMs: Math.round(rampMs),
      unit: 'delta',
      aims: [],
    };
    const opened = load(this.#rig.program, this.#rig.outDir, workload, this.#target, extent);
    // Whatever fails is thrown where all are waited for.
    opened.catch(() => {});
    this.#loads.push(opened);
  }

  /** Memory is collected in strides: the median of many readings is what is usually taken. */
  async look(lookMs: number) {
    const { pid } = this.#target.process;
    const seen: number[] = [];
    const before = await this.#held();
    const [ns, fromMs] = [cpuNs(pid), performance.now()];
    while (performance.now() < fromMs + lookMs) {
      seen.push(rssBytes(pid));
      await pause(READ_EVERY_MS);
    }
    const [cpuUs, seconds] = [(cpuNs(pid) - ns) / 1e3, (performance.now() - fromMs) / 1e3];
    // Some may have ended meanwhile, on a machine so slow that opening took longer than an answer.
    const streams = Math.round((before + (await this.#held())) / 2);
    return { streams, rssBytes: median(seen), cpuUsPerDelta: cpuUs / (seconds * streams) };
  }

  /** Has the model send what is left, and waits until every stream is over. */
  async end(): Promise<readonly LoadResult[]> {
    await fetch(`${this.#rig.upstream}/hurry`, { method: 'POST' });
    return Promise.all(this.#loads);
  }
}

/** A round of one server, which is started for it. A quick run opens fewer in less time: that many a second all the same. */
async function watchStreams(candidate: Candidate, rig: Rig) {
  const most = streamsThatFit(candidate.openStreams ?? STREAMS);
  const all = Math.round(most / (rig.quick ? QUICK_DIVISOR : 1));
  const target = await candidate.start({ model: MODEL, upstream: rig.upstream, streams: all, outDir: rig.outDir });
  try {
    const streams = new Streams(target, rig);
    const looks: Look[] = [];
    for (const { share, withinS, lookMs } of STEPS) {
      await streams.open(Math.round(all * share), (most * share) / withinS);
      await pause(SETTLE_MS);
      looks.push(await streams.look(lookMs));
    }
    const results = await streams.end();
    target.process.check();
    return { looks, results };
  } finally {
    await target.stop();
  }
}

interface Found {
  readonly candidate: Candidate;
  readonly rounds: Watched[];
}

/** A round of one server. A peer that fails is left out of it all. @throws what the others threw */
async function playRound({ candidate, rounds }: Found, rig: Rig): Promise<LeftOut | undefined> {
  try {
    rounds.push(await watchStreams(candidate, rig));
    return undefined;
  } catch (error) {
    if (candidate.role !== 'peer') throw error;
    const why = reasonOf(error);
    process.stderr.write(`${candidate.name} is left out of W6: ${why}\n`);
    return { candidate: candidate.name, workload: 'W6', why };
  }
}

/** Memory that the streams between the first look and the last took, each. */
function kbAStream({ looks }: Watched): number {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  return (last.rssBytes - first.rssBytes) / 1e3 / (last.streams - first.streams);
}

function brokenOf({ rounds }: Found): number {
  return sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)));
}

const lastLooks = ({ rounds }: Found): readonly Look[] => rounds.flatMap(({ looks }) => looks.slice(-1));

const COLUMNS: readonly Column<Found>[] = [
  ['server', ({ candidate }) => candidate.name],
  ['streams', (found) => whole(lastLooks(found)[0]?.streams ?? 0)],
  ...spread<Found>('KB a stream', ({ rounds }) => rounds.map(kbAStream)),
  ['RSS MB', (found) => digits(median(lastLooks(found).map((look) => look.rssBytes / 1e6)))],
  ...spread<Found>('CPU µs a delta', (found) => lastLooks(found).map(({ cpuUsPerDelta }) => cpuUsPerDelta)),
  ['broken', (found) => `${brokenOf(found)}`],
  ['target', ({ candidate: { role } }) => (role === 'limit' ? 'the limit' : role === 'peer' ? '' : TARGET)],
];

async function measure({ candidates, onStep, outDir, quick, rounds }: QuestionScene): Promise<Finding> {
  const found: Found[] = candidates.map((candidate) => ({ candidate, rounds: [] }));
  const leftOut: LeftOut[] = [];
  const program = compileLoad(outDir);
  await withModel(outDir, async ({ origin: upstream }) => {
    for (let round = 0; round < rounds; round++) {
      for (const entry of inOrderOf([...found], round)) {
        onStep(`W6: ${entry.candidate.name} in round ${round + 1} of ${rounds}`);
        const failed = await playRound(entry, { outDir, quick, program, upstream });
        if (failed === undefined) continue;
        leftOut.push(failed);
        found.splice(found.indexOf(entry), 1);
      }
    }
  });
  const warnings = found.flatMap((each) => [
    ...(each.candidate.role === 'service'
      ? missedBy(`An open stream of ${each.candidate.name}`, median(each.rounds.map(kbAStream)), KB_MAX, 'KB')
      : []),
    ...brokenAmong(each.candidate.name, brokenOf(each)),
  ]);
  const data = found.map(({ candidate, rounds: measured }) => ({ server: candidate.name, rounds: measured }));
  return { tables: [tableOf(COLUMNS, found)], warnings, data, leftOut };
}

export const openStreams: Question = {
  name: 'W6',
  what: 'memory of an open stream',
  asks: () => true,
  expectedSeconds: ({ candidates, quick, rounds }) => candidates.length * rounds * (quick ? 10 : 24),
  measure,
};
