/**
 * Many streams of a delta a second, opened step by step beside each other as fast as the server begins them, and the server's memory and CPU
 * time while they are open. Owns the opening, the looks and the quick end; what is made of them is its callers'.
 */
import { readFileSync } from 'node:fs';
import { type LoadResult, load } from '../../load/load.ts';
import { cpuNs, rssBytes } from '../../meters/cpu.ts';
import { median } from '../../report/table.ts';
import type { Candidate, Target } from '../../servers/candidate.ts';
import { pause } from '../../servers/processes.ts';
import type { Workload } from '../../workloads/workloads.ts';

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

/** More streams beside those that are open. */
export interface Step {
  readonly streams: number;
  /** The pace at which they are asked for. */
  readonly perSecond: number;
  readonly lookMs: number;
}

/** What a server takes while so many streams are open, by the count of the model that feeds them. */
export interface Look {
  readonly streams: number;
  readonly rssBytes: number;
  /** CPU time of all threads, for each delta that was due. */
  readonly cpuUsPerDelta: number;
}

export interface Watched {
  /** One for each step. */
  readonly looks: readonly Look[];
  readonly results: readonly LoadResult[];
}

export interface Watch {
  /** Names the load in errors. */
  readonly name: string;
  readonly steps: readonly Step[];
  /** Deltas of a stream, one a second: more than the seconds from the first opening to the last look. */
  readonly deltas: number;
  /** The load client's program. */
  readonly program: string;
  /** Origin of the fake model. */
  readonly upstream: string;
  readonly outDir: string;
}

/** Of `wanted` streams, as many as the limit of open files allows a server to hold. */
export function streamsThatFit(wanted: number, limits: string = readFileSync('/proc/self/limits', 'utf8')): number {
  const hard = /^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? wanted : Math.min(wanted, Math.floor((Number(hard) - OTHER_FILES) / FILES_A_STREAM));
}

/** The streams of one target. */
class Streams {
  readonly #loads: Promise<LoadResult>[] = [];
  readonly #target: Target;
  readonly #watch: Watch;

  constructor(target: Target, watch: Watch) {
    this.#target = target;
    this.#watch = watch;
  }

  /** Streams that the model feeds. */
  async #held(): Promise<number> {
    return Number(await (await fetch(`${this.#watch.upstream}/held`)).text());
  }

  /** Opens more of them. */
  async open({ streams, perSecond }: Step): Promise<void> {
    for (let left = streams; left > 0; left -= OPENED_AT_ONCE) {
      const wanted = (await this.#held()) + Math.min(left, OPENED_AT_ONCE);
      const rampMs = (Math.min(left, OPENED_AT_ONCE) / perSecond) * 1_000;
      this.#begin(Math.min(left, OPENED_AT_ONCE), rampMs);
      await pause(rampMs);
      const giveUpAtMs = performance.now() + BEGUN_WITHIN_MS;
      while ((await this.#held()) < wanted && performance.now() < giveUpAtMs) await pause(LOOK_FOR_BEGUN_MS);
    }
  }

  #begin(streams: number, rampMs: number): void {
    const { name, deltas, program, outDir } = this.#watch;
    const workload: Workload = {
      name,
      what: 'a delta a second',
      model: modelOf(this.#watch),
      tokens: deltas,
      streams,
      requests: streams,
      warmUp: 0,
      rampMs: Math.round(rampMs),
      gapMs: 0,
      unit: 'delta',
      aims: [],
    };
    const opened = load(program, outDir, workload, this.#target, { requests: streams, stallSeconds: STALL_S });
    // Whatever fails is thrown where all are waited for.
    opened.catch(() => {});
    this.#loads.push(opened);
  }

  /** Memory is collected in strides: the median of many readings is what is usually taken. */
  async look({ lookMs }: Step): Promise<Look> {
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
    await fetch(`${this.#watch.upstream}/hurry`, { method: 'POST' });
    return Promise.all(this.#loads);
  }
}

function modelOf({ deltas }: Watch): string {
  return `fake-${deltas}-1000`;
}

/** Starts a server for these streams alone, and ends it. */
export async function watchStreams(candidate: Candidate, watch: Watch): Promise<Watched> {
  const { steps, upstream, outDir } = watch;
  const all = steps.reduce((total, { streams }) => total + streams, 0);
  const target = await candidate.start({ model: modelOf(watch), upstream, streams: all, outDir });
  try {
    const streams = new Streams(target, watch);
    const looks: Look[] = [];
    for (const step of steps) {
      await streams.open(step);
      await pause(SETTLE_MS);
      looks.push(await streams.look(step));
    }
    const results = await streams.end();
    target.process.check();
    return { looks, results };
  } finally {
    await target.stop();
  }
}
