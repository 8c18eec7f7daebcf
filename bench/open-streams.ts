/**
 * W6: what an open stream takes of memory, and a delta of CPU, when answers are slow. The first streams are open already when memory is
 * looked at first, so that what a server takes for itself, warm-up included, drops out.
 */
import { type Candidate, relay, type Target } from './candidate.ts';
import { cpuNs, rssBytes } from './cpu.ts';
import { compileLoad, type LoadResult, load } from './load.ts';
import { withModel } from './model.ts';
import { pause } from './processes.ts';
import type { Question, QuestionScene } from './question.ts';
import { digits, markdownTable, median, range, sum } from './report.ts';
import { service } from './service.ts';
import type { Workload } from './workloads.ts';

const TARGET = '≤ 24 KB an open stream';
/** A delta each second for as long as all parts are to be open beside each other. */
const DELTAS = 80;
const KIND = { what: 'a delta a second', model: `fake-${DELTAS}-1000`, tokens: DELTAS, warmUp: 0, gapMs: 0, unit: 'delta' } as const;
/**
 * Two sockets each at the server: together they stay below 20,000 open files. The load client connects a whole part at once, and a
 * connection on which nothing is asked for 10 s is closed: each part is asked for within less.
 */
const PARTS = [2_000, 3_000, 3_000] as const;
const OPENED_PER_S = 400;
/** From the last opening until memory is read: what opening took for a moment is given back. */
const SETTLE_MS = 5_000;
const READ_FOR_MS = 15_000;
const READ_EVERY_MS = 250;
const QUICK_DIVISOR = 10;

interface Round {
  /** Memory of the server, with each part open. */
  readonly rss: readonly number[];
  readonly streams: readonly number[];
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

async function measureRound(candidate: Candidate, program: string, upstream: string, { outDir, quick }: QuestionScene): Promise<Round> {
  const target: Target = await candidate.start({ model: KIND.model, upstream, outDir });
  const { pid } = target.process;
  const open = (streams: number): Promise<LoadResult> => {
    const workload: Workload = {
      ...KIND,
      name: 'W6',
      streams,
      requests: streams,
      rampMs: (streams / OPENED_PER_S) * 1_000,
      target: TARGET,
    };
    return load(program, outDir, workload, target, streams);
  };
  try {
    const rss: number[] = [];
    const streams = PARTS.map((part) => (quick ? part / QUICK_DIVISOR : part));
    const loads: Promise<LoadResult>[] = [];
    let cpuUsPerDelta = Number.NaN;
    for (const part of streams) {
      const opened = open(part);
      // Whatever fails is thrown where all are waited for.
      opened.catch(() => {});
      loads.push(opened);
      await pause((part / OPENED_PER_S) * 1_000 + SETTLE_MS);
      const [ns, atMs] = [cpuNs(pid), performance.now()];
      // While some are still to come a look is enough: all have to be open while the last one lasts.
      rss.push(await usualRss(pid, loads.length < streams.length ? SETTLE_MS : READ_FOR_MS));
      const openNow = sum(streams.slice(0, loads.length));
      cpuUsPerDelta = (cpuNs(pid) - ns) / 1e3 / (((performance.now() - atMs) / 1e3) * openNow);
    }
    const results = await Promise.all(loads);
    target.process.check();
    return { rss, streams, cpuUsPerDelta, results };
  } finally {
    await target.stop();
  }
}

interface Found {
  readonly server: string;
  readonly rounds: readonly Round[];
}

const COLUMNS = ['server', 'streams', 'KB a stream', 'range', 'RSS MB', 'CPU µs a delta', 'range', 'broken', 'target'];

function rowOf({ server, rounds }: Found): string[] {
  const kb = rounds.map(({ rss, streams: [, ...more] }) => ((rss.at(-1) ?? 0) - (rss[0] ?? 0)) / 1e3 / sum(more));
  const cpu = rounds.map(({ cpuUsPerDelta }) => cpuUsPerDelta);
  const all = sum(rounds[0]?.streams ?? []);
  return [
    server,
    all.toLocaleString('en-US'),
    digits(median(kb)),
    range(kb),
    digits(median(rounds.map(({ rss }) => (rss.at(-1) ?? 0) / 1e6))),
    digits(median(cpu)),
    range(cpu),
    `${sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)))}`,
    server === relay.name ? 'the limit' : TARGET,
  ];
}

export const openStreams: Question = {
  name: 'W6',
  async measure(scene) {
    const program = compileLoad(scene.outDir);
    const found = [relay, service].map((candidate) => ({ candidate, server: candidate.name, rounds: [] as Round[] }));
    await withModel(scene.outDir, async ({ origin }) => {
      for (let round = 0; round < scene.rounds; round++) {
        for (const { candidate, rounds } of found) rounds.push(await measureRound(candidate, program, origin, scene));
        process.stderr.write(`W6: round ${round + 1} of ${scene.rounds}\n`);
      }
    });
    const data = found.map(({ server, rounds }): Found => ({ server, rounds }));
    return { name: 'W6', markdown: markdownTable(COLUMNS, data.map(rowOf)), data };
  },
};
