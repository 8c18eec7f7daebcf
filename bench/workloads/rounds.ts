/** One workload: every candidate's server side by side, warmed up, then measured in turns. Owns who is measured when, and who is left out. */

import { type Extent, type LoadResult, load } from '../load/load.ts';
import { forgetPeak, peakRssBytes, rssBytes, SETTLE_MS, spending } from '../meters/cpu.ts';
import type { Wrote } from '../meters/written.ts';
import { isWide } from '../report/table.ts';
import type { Candidate, Target } from '../servers/candidate.ts';
import { type WarmUp, WINDOW_S, warmUntilStill } from './warm-up.ts';
import { units, type Workload } from './workloads.ts';

/** Even a workload of one client is warmed up by this many, or half a minute would not be enough to compile what is hot. */
const WARM_UP_STREAMS = 64;
/** More than a window can hold. */
const REQUESTS_MAX = 1_000_000;
/** A server that takes longer has fewer turns to a round: what each costs shows all the same. */
const ROUND_MAX_S = 3;
/** A quick run: a quarter of the streams, for a second at most, after a warm-up of one window. */
const QUICK_DIVISOR = 4;
const QUICK_MAX_S = 1;
/** A server whose rounds differ by more than `WIDE` plays all of them again, so many times at most. */
const AGAIN_MAX = 2;

export interface Round extends LoadResult {
  readonly cpu_ns: number;
  /** The most that was resident during the round. */
  readonly peak_rss_bytes: number;
  /** What the stage's meter read. */
  readonly wrote?: Wrote;
}

/** All rounds of one candidate on one workload. */
export interface Outcome {
  readonly workload: Workload;
  readonly candidate: string;
  readonly rounds: readonly Round[];
  /** Before its first turn. */
  readonly idle_rss_bytes: number;
  /** How it became warm; absent in results of before this was kept. */
  readonly warm_up?: WarmUp;
  /** How often its rounds were played again because they differed too much: these are the last ones. */
  readonly again?: number;
  /** Over the life of the server's processes: start, warm-up and all rounds. */
  readonly peak_rss_bytes: number;
}

/** Who could not be measured, and why, in one line. */
export interface LeftOut {
  readonly candidate: string;
  /** Absent: of everything. */
  readonly workload?: string;
  readonly why: string;
}

export interface Stage {
  readonly candidates: readonly Candidate[];
  readonly rounds: number;
  readonly quick: boolean;
  readonly program: string;
  readonly upstream: string;
  readonly outDir: string;
  /** Is told before each step what it is. */
  readonly onStep: (step: string) => void;
  /** Looks at a server before a round; what it returns looks once more, and tells what was written in between. */
  readonly meter?: (target: Target) => () => Wrote;
}

interface Player {
  readonly candidate: Candidate;
  readonly target: Target;
  rounds: Round[];
  warmUp?: WarmUp;
  again: number;
  idleRssBytes: number;
  /** Until the last round that was measured. */
  peakRssBytes: number;
}

/** Every other round the other way round: whoever follows finds the same machine. */
export function inOrderOf<T>(players: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? players : players.toReversed();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function reasonOf(error: unknown): string {
  return (
    messageOf(error)
      .split('\n')
      .find((line) => line.trim() !== '') ?? 'no reason was given'
  );
}

/**
 * A peer that waits is held still: one of them looks for work all the time, on the core of whoever is measured. Ours would take a stop
 * for a stall, and do nothing while they wait.
 */
function signal({ candidate, target }: Player, name: 'SIGSTOP' | 'SIGCONT'): void {
  if (candidate.role !== 'peer') return;
  try {
    process.kill(target.process.pid, name);
  } catch {
    // It has ended: whoever asks it next is told.
  }
}

async function stop(player: Player): Promise<void> {
  // Held still, it would not hear that it is to end.
  signal(player, 'SIGCONT');
  await player.target.stop();
}

/** Who plays a workload. A peer that fails is left out of it; without the relay or the service there is nothing to show. */
class Players {
  readonly list: Player[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #workload: Workload;

  constructor(workload: Workload) {
    this.#workload = workload;
  }

  /** Does a piece of work for one candidate. @throws what it threw, unless the candidate is a peer. */
  async try(candidate: Candidate, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (candidate.role !== 'peer') throw new Error(`${this.#workload.name}, ${candidate.name}: ${messageOf(error)}`, { cause: error });
      await this.#leaveOut(candidate, reasonOf(error));
    }
  }

  /** As `try`, for a player's turn: everybody else waits. */
  async turnOf(player: Player, work: () => Promise<void>): Promise<void> {
    signal(player, 'SIGCONT');
    await this.try(player.candidate, work);
    signal(player, 'SIGSTOP');
  }

  async #leaveOut(candidate: Candidate, why: string): Promise<void> {
    const at = this.list.findIndex((player) => player.candidate === candidate);
    const [player] = at < 0 ? [] : this.list.splice(at, 1);
    this.leftOut.push({ candidate: candidate.name, workload: this.#workload.name, why });
    process.stderr.write(`${candidate.name} is left out of ${this.#workload.name}: ${why}\n`);
    if (player !== undefined) await stop(player);
  }
}

/** Load for so many seconds, and what it took. @throws when no stream was whole */
async function asked(stage: Stage, workload: Workload, { target }: Player, extent: Extent) {
  const asking = () => load(stage.program, stage.outDir, workload, target, extent);
  const {
    result,
    ns: [cpu = 0],
  } = await spending([target.process], asking);
  if (result.ok === 0) throw new Error(`no stream was whole: ${result.reasons[0] ?? 'nothing came'}`);
  return { ...result, cpu_ns: cpu };
}

/** Windows of the workload's own turns, by as many clients as it has and no fewer than warm a server up at all. */
function warmUp(stage: Stage, workload: Workload, player: Player): Promise<WarmUp> {
  const streams = Math.max(workload.streams, WARM_UP_STREAMS);
  const windows: Workload = { ...workload, streams, gapMs: 0, rampMs: Math.min(workload.rampMs ?? 0, WINDOW_S * 1e3) };
  const window = async (): Promise<number> => {
    const round = await asked(stage, windows, player, { requests: REQUESTS_MAX, seconds: WINDOW_S });
    return round.cpu_ns / 1e3 / units(workload, round);
  };
  return warmUntilStill(window, stage.quick ? { maxS: 0 } : {});
}

async function measure(stage: Stage, workload: Workload, player: Player): Promise<Round> {
  const { target } = player;
  player.peakRssBytes = Math.max(player.peakRssBytes, peakRssBytes(target.process.pid));
  forgetPeak(target.process.pid);
  const { requests, streams, roundS = ROUND_MAX_S } = workload;
  const most = Math.max(Math.ceil(stage.quick ? requests / QUICK_DIVISOR : requests), streams);
  const wrote = stage.meter?.(target);
  const round = await asked(stage, workload, player, { requests: most, seconds: stage.quick ? QUICK_MAX_S : roundS });
  const peak = peakRssBytes(target.process.pid);
  player.peakRssBytes = Math.max(player.peakRssBytes, peak);
  return { ...round, peak_rss_bytes: peak, ...(wrote === undefined ? {} : { wrote: wrote() }) };
}

/** Whether the CPU of a unit differs so much between the rounds that their median says little. */
export function isScattered({ workload, rounds }: Pick<Outcome, 'workload' | 'rounds'>): boolean {
  return isWide(rounds.map((round) => round.cpu_ns / units(workload, round)));
}

/** A peer that is asked for so many times the streams that one core can feed measures its queue, for minutes. */
const TOO_MANY_TIMES = 2;

/** Those who can play a workload, and why the others cannot. */
export function ableTo(workload: Workload, candidates: readonly Candidate[]): { able: readonly Candidate[]; leftOut: readonly LeftOut[] } {
  const feeds = ({ openStreams = workload.streams }: Candidate): number => openStreams;
  const isAble = (candidate: Candidate): boolean => workload.streams <= TOO_MANY_TIMES * feeds(candidate);
  const leftOut = candidates
    .filter((candidate) => !isAble(candidate))
    .map((candidate) => {
      const why = `one core feeds some ${feeds(candidate)} streams of it at a time, and this asks for ${workload.streams.toLocaleString('en-US')}`;
      return { candidate: candidate.name, workload: workload.name, why };
    });
  return { able: candidates.filter(isAble), leftOut };
}

/** Of starting a server, and of stopping it. */
const START_S = 1.5;
/** Servers that are quick come to rest in four or five windows, the others never. */
const WARM_UP_USUAL_S = 10;
/** Streams that servers end in a second, fast ones and slow ones taken together. */
const DRAINED_A_SECOND = 80;

/** About how long `play` takes with a workload: servers that are quick are done before a round's time is up. */
export function expectedSeconds(
  { roundS = ROUND_MAX_S, streams }: Workload,
  { candidates, rounds, quick }: Pick<Stage, 'candidates' | 'rounds' | 'quick'>,
): number {
  const [warmUp, round] = quick ? [WINDOW_S, QUICK_MAX_S] : [WARM_UP_USUAL_S, roundS];
  // Slow servers need some time for the streams that are open when a round's time is up.
  const drain = SETTLE_MS / 1e3 + streams / DRAINED_A_SECOND;
  return candidates.length * (START_S + warmUp + rounds * (round + drain));
}

export async function play(stage: Stage, workload: Workload): Promise<{ outcomes: readonly Outcome[]; leftOut: readonly LeftOut[] }> {
  const { model, streams } = workload;
  const scene = { model, streams: Math.max(streams, WARM_UP_STREAMS), upstream: stage.upstream, outDir: stage.outDir };
  const { able, leftOut } = ableTo(workload, stage.candidates);
  const players = new Players(workload);
  const step = (what: string, { name }: Candidate): void => stage.onStep(`${workload.name}: ${name} ${what}`);
  try {
    for (const candidate of able) {
      step('starts', candidate);
      await players.try(candidate, async () => {
        players.list.push({ candidate, target: await candidate.start(scene), rounds: [], again: 0, idleRssBytes: 0, peakRssBytes: 0 });
      });
    }
    for (const player of players.list) {
      player.idleRssBytes = rssBytes(player.target.process.pid);
      signal(player, 'SIGSTOP');
    }
    for (const player of [...players.list]) {
      step('warms up', player.candidate);
      await players.turnOf(player, async () => {
        player.warmUp = await warmUp(stage, workload, player);
      });
    }
    for (let again = 0; again <= (stage.quick ? 0 : AGAIN_MAX); again++) {
      const due = again === 0 ? [...players.list] : players.list.filter(({ rounds }) => isScattered({ workload, rounds }));
      for (const player of due) Object.assign(player, { rounds: [], again });
      for (let round = 0; round < stage.rounds; round++) {
        for (const player of inOrderOf(due, round).filter((each) => players.list.includes(each))) {
          step(`in round ${round + 1} of ${stage.rounds}${again === 0 ? '' : ', again'}`, player.candidate);
          await players.turnOf(player, async () => {
            player.rounds.push(await measure(stage, workload, player));
          });
        }
      }
    }
    const outcomes = players.list.map(({ candidate, rounds, again, warmUp: warm_up, idleRssBytes, peakRssBytes: peak }) => ({
      workload,
      candidate: candidate.name,
      rounds,
      again,
      ...(warm_up === undefined ? {} : { warm_up }),
      idle_rss_bytes: idleRssBytes,
      peak_rss_bytes: peak,
    }));
    return { outcomes, leftOut: [...leftOut, ...players.leftOut] };
  } finally {
    for (const player of players.list) await stop(player);
  }
}
