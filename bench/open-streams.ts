/**
 * W6: what an open stream takes of memory, and a delta of CPU, when answers are slow. The first streams are open already when memory is
 * looked at first, so that what a server takes for itself, warm-up included, drops out.
 */
import type { Candidate, Target } from './candidate.ts';
import { cpuNs, rssBytes } from './cpu.ts';
import { compileLoad, type LoadResult, load } from './load.ts';
import { withModel } from './model.ts';
import { pause } from './processes.ts';
import type { Question, QuestionScene } from './question.ts';
import { digits, median, range, sum } from './report.ts';
import { inOrderOf, type LeftOut, reasonOf } from './rounds.ts';
import type { Workload } from './workloads.ts';

const TARGET = '≤ 24 KB an open stream';
/** A delta each second for as long as all parts are to be open beside each other. */
const DELTAS = 45;
const KIND = { what: 'a delta a second', model: `fake-${DELTAS}-1000`, tokens: DELTAS, warmUp: 0, gapMs: 0, unit: 'delta' } as const;
/** Two sockets each at the server: together they stay below 20,000 open files. */
const STREAMS = 8_000;
/**
 * Shares of them that are opened one after the other. The load client connects a whole part at once, and a connection on which nothing
 * is asked for 10 s is closed: each part is asked for within less.
 */
const PARTS = [1 / 4, 3 / 8, 3 / 8] as const;
const OPENED_WITHIN_MS = 20_000;
/** From the last opening until memory is read: what opening took for a moment is given back. */
const SETTLE_MS = 3_000;
/** How long it is looked at with the first part, and with all. */
const FIRST_LOOK_MS = 4_000;
const LAST_LOOK_MS = 10_000;
const READ_EVERY_MS = 250;
/** Servers come to this cold, and some take their time over the first of so many. */
const STALL_S = 45;
const QUICK_DIVISOR = 10;

interface Round {
  readonly streams: number;
  /** How many of them are open at the first look. */
  readonly first: number;
  /** Memory of the server, at the first look and at the last. */
  readonly rss: readonly [number, number];
  /** CPU of all threads, for each delta that was due. */
  readonly cpuUsPerDelta: number;
  readonly results: readonly LoadResult[];
}

/** Memory is collected in strides: the median of many looks is what is usually taken. */
async function usualRss(pid: number, forMs: number): Promise<number> {
  const seen: number[] = [];
  for (const endMs = performance.now() + forMs; performance.now() < endMs; await pause(READ_EVERY_MS)) seen.push(rssBytes(pid));
  return median(seen);
}

/** The streams of one target, opened part by part. */
class Streams {
  readonly #loads: Promise<LoadResult>[] = [];
  readonly #open: (streams: number, rampMs: number) => Promise<LoadResult>;

  constructor(program: string, outDir: string, target: Target) {
    this.#open = (streams, rampMs) => {
      const workload: Workload = { ...KIND, name: 'W6', streams, requests: streams, rampMs, aims: [] };
      return load(program, outDir, workload, target, { requests: streams, stallSeconds: STALL_S });
    };
  }

  async open(streams: number, rampMs: number): Promise<void> {
    const opened = this.#open(streams, rampMs);
    // Whatever fails is thrown where all are waited for.
    opened.catch(() => {});
    this.#loads.push(opened);
    await pause(rampMs);
  }

  ended(): Promise<readonly LoadResult[]> {
    return Promise.all(this.#loads);
  }
}

async function measureRound(candidate: Candidate, program: string, upstream: string, { outDir, quick }: QuestionScene): Promise<Round> {
  const all = (candidate.openStreams ?? STREAMS) / (quick ? QUICK_DIVISOR : 1);
  const target: Target = await candidate.start({ model: KIND.model, upstream, streams: all, outDir });
  const { pid } = target.process;
  try {
    const streams = new Streams(program, outDir, target);
    const parts = PARTS.map((share) => ({ streams: Math.round(all * share), rampMs: OPENED_WITHIN_MS * share }));
    const [first, ...more] = parts;
    if (first === undefined) throw new Error('no parts');
    await streams.open(first.streams, first.rampMs);
    await pause(SETTLE_MS);
    const before = await usualRss(pid, FIRST_LOOK_MS);
    for (const part of more) await streams.open(part.streams, part.rampMs);
    await pause(SETTLE_MS);
    const opened = sum(parts.map((part) => part.streams));
    const [ns, atMs] = [cpuNs(pid), performance.now()];
    const after = await usualRss(pid, LAST_LOOK_MS);
    const cpuUsPerDelta = (cpuNs(pid) - ns) / 1e3 / (((performance.now() - atMs) / 1e3) * opened);
    const results = await streams.ended();
    target.process.check();
    return { streams: opened, first: first.streams, rss: [before, after], cpuUsPerDelta, results };
  } finally {
    await target.stop();
  }
}

interface Found {
  readonly candidate: Candidate;
  readonly rounds: Round[];
}

/** A round of one server. A peer that fails is left out of it all. @throws what the others threw */
async function playRound({ candidate, rounds }: Found, work: () => Promise<Round>): Promise<LeftOut | undefined> {
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

function rowOf({ candidate, rounds }: Found): string[] {
  const kb = rounds.map(({ rss: [before, after], streams, first }) => (after - before) / 1e3 / (streams - first));
  const cpu = rounds.map(({ cpuUsPerDelta }) => cpuUsPerDelta);
  return [
    candidate.name,
    (rounds[0]?.streams ?? 0).toLocaleString('en-US'),
    digits(median(kb)),
    range(kb),
    digits(median(rounds.map(({ rss: [, after] }) => after / 1e6))),
    digits(median(cpu)),
    range(cpu),
    `${sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)))}`,
    candidate.role === 'limit' ? 'the limit' : candidate.role === 'peer' ? '' : TARGET,
  ];
}

export const openStreams: Question = {
  name: 'W6',
  what: 'memory of an open stream',
  asks: () => true,
  // Opening, looking, the rest of the answers, and a start.
  expectedSeconds: ({ candidates, rounds }) => candidates.length * rounds * (DELTAS + OPENED_WITHIN_MS / 1e3 + 10),
  async measure(scene) {
    const program = compileLoad(scene.outDir);
    const found: Found[] = scene.candidates.map((candidate) => ({ candidate, rounds: [] }));
    const leftOut: LeftOut[] = [];
    await withModel(scene.outDir, async ({ origin }) => {
      for (let round = 0; round < scene.rounds; round++) {
        for (const entry of inOrderOf([...found], round)) {
          scene.onStep(`W6: ${entry.candidate.name} in round ${round + 1} of ${scene.rounds}`);
          const failed = await playRound(entry, () => measureRound(entry.candidate, program, origin, scene));
          if (failed === undefined) continue;
          leftOut.push(failed);
          found.splice(found.indexOf(entry), 1);
        }
      }
    });
    const data = found.map(({ candidate, rounds }) => ({ server: candidate.name, rounds }));
    return { tables: [{ columns: COLUMNS, rows: found.map(rowOf) }], data, leftOut };
  },
};
