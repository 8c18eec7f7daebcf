/**
 * T1: what a turn costs besides time, in one table with its CPU time: what is written and kept, commits and statements, and the tokens that
 * the model is asked with. Owns who is looked at when; statements are counted in servers of their own, whose time nobody takes.
 */

import { compileLoad, type LoadResult, load } from '../../load/load.ts';
import { cpuNs } from '../../meters/cpu.ts';
import { firstTurnTokens } from '../../meters/request-tokens.ts';
import { SlowDisk } from '../../meters/slow-disk.ts';
import { settled } from '../../meters/spending.ts';
import { StatementCounter, type StatementCounts } from '../../meters/statement-counts.ts';
import { storedBytes } from '../../meters/stored.ts';
import { writtenBetween, writtenBy } from '../../meters/written.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import type { Candidate, Scene, Target } from '../../servers/candidate.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { type Workload, workloadNamed } from '../../workloads/workloads.ts';
import { type Found, type Round, type TurnCounts, turnCostTable, turnCostWarnings } from './turn-cost-table.ts';

const BUSY = workloadNamed('W3');
const ALONE = workloadNamed('W4');
/** Enough to fill the log of a database many times over. */
const TURNS = 10_000;
const WARM_UP_TURNS = 5_000;
const ROUND_MAX_S = 4;
/** Counts do not vary as times do. */
const COUNTED_TURNS = 2_000;
const COUNTED_TURNS_ALONE = 200;
const COUNTED_MAX_S = 5;
const QUICK_DIVISOR = 10;

/** What the measuring needs besides the server. */
interface Rig {
  readonly program: string;
  readonly scene: Scene;
  readonly quick: boolean;
}

/** Turns of a workload, to their ends and what follows them. @throws when none was whole */
async function turns(
  { program, scene, quick }: Rig,
  workload: Workload,
  target: Target,
  requests: number,
  seconds: number,
): Promise<LoadResult> {
  const asked = Math.max(quick ? requests / QUICK_DIVISOR : requests, workload.streams);
  const result = await load(program, scene.outDir, workload, target, { requests: asked, seconds });
  await settled([target.process]);
  if (result.ok === 0) throw new Error(`no turn of ${target.name} was whole: ${result.reasons[0] ?? 'nothing came'}`);
  return result;
}

async function measureRound(rig: Rig, target: Target): Promise<Round> {
  const { pid } = target.process;
  const stored = (): number | undefined => (target.dataDir === undefined ? undefined : storedBytes(target.dataDir));
  const [storedBefore, writtenBefore, cpuBefore] = [stored(), writtenBy(pid), cpuNs(pid)];
  const result = await turns(rig, BUSY, target, TURNS, ROUND_MAX_S);
  const [cpuAfter, writtenAfter, storedAfter] = [cpuNs(pid), writtenBy(pid), stored()];
  return {
    turns: result.ok,
    broken: result.broken,
    cpu_ns: cpuAfter - cpuBefore,
    sent_bytes: result.bytes,
    written: writtenBetween(writtenBefore, writtenAfter),
    stored_bytes: storedBefore === undefined || storedAfter === undefined ? undefined : storedAfter - storedBefore,
  };
}

interface Counting {
  readonly target: Target;
  readonly statements: StatementCounter;
  readonly disk: SlowDisk;
}

/** What the turns of one workload count up to. */
async function counted(rig: Rig, { target, statements, disk }: Counting, workload: Workload, requests: number): Promise<TurnCounts> {
  const [before, syncsBefore] = [await statements.counts(), disk.syncs().count];
  const { ok, broken } = await turns(rig, workload, target, requests, COUNTED_MAX_S);
  const after = await statements.counts();
  const since = (what: keyof StatementCounts): number => after[what] - before[what];
  const counts = { statements: since('statements'), onLoop: since('onLoop'), control: since('control'), commits: since('commits') };
  return { ...counts, turns: ok, broken, syncs: disk.syncs().count - syncsBefore };
}

/** Counts in a server that is started for it. */
async function count(rig: Rig, candidate: Candidate): Promise<{ readonly busy: TurnCounts; readonly alone: TurnCounts }> {
  const statements = await StatementCounter.create();
  const disk = new SlowDisk(rig.scene.outDir, candidate.name, 0);
  const target = await candidate.start({ ...rig.scene, env: statements.env, disk });
  try {
    // Statements are prepared, and the keys looked up, once.
    await turns(rig, BUSY, target, COUNTED_TURNS / 2, COUNTED_MAX_S);
    const counting = { target, statements, disk };
    const busy = await counted(rig, counting, BUSY, COUNTED_TURNS);
    return { busy, alone: await counted(rig, counting, ALONE, COUNTED_TURNS_ALONE) };
  } finally {
    await target.stop();
  }
}

/** All servers side by side, in rounds. */
async function measureRounds(
  rig: Rig,
  candidates: readonly Candidate[],
  { rounds, onStep }: QuestionScene,
): Promise<Map<Candidate, Round[]>> {
  const players: { readonly candidate: Candidate; readonly target: Target; readonly rounds: Round[] }[] = [];
  try {
    for (const candidate of candidates) players.push({ candidate, target: await candidate.start(rig.scene), rounds: [] });
    for (const { candidate, target } of players) {
      onStep(`T1: ${candidate.name} warms up`);
      await turns(rig, BUSY, target, WARM_UP_TURNS, ROUND_MAX_S);
    }
    for (let round = 0; round < rounds; round++) {
      for (const player of inOrderOf(players, round)) {
        onStep(`T1: ${player.candidate.name} in round ${round + 1} of ${rounds}`);
        player.rounds.push(await measureRound(rig, player.target));
      }
    }
    return new Map(players.map((player) => [player.candidate, player.rounds]));
  } finally {
    for (const { target } of players) await target.stop();
  }
}

/** The relay and ours: what peers keep and ask is another matter. */
function lookedAt(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ role }) => role !== 'peer');
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const { outDir, quick, onStep } = scene;
  const candidates = lookedAt(scene.candidates);
  const found: Found[] = [];
  await withModel(outDir, async ({ origin }) => {
    const rig: Rig = { program: compileLoad(outDir), scene: { model: BUSY.model, streams: BUSY.streams, upstream: origin, outDir }, quick };
    const rounds = await measureRounds(rig, candidates, scene);
    for (const candidate of candidates) {
      const measured = { server: candidate.name, rounds: rounds.get(candidate) ?? [] };
      onStep(`T1: ${candidate.name} is counted`);
      // The relay stores nothing and asks the same of the model whatever it is asked.
      if (candidate.role === 'limit') found.push(measured);
      else found.push({ ...measured, counts: await count(rig, candidate), tokens: await firstTurnTokens(candidate, rig.scene) });
    }
  });
  return { tables: [turnCostTable(found)], warnings: turnCostWarnings(found), data: found };
}

export const turnCost: Question = {
  name: 'T1',
  what: 'what a turn costs besides time',
  expectedSeconds({ candidates, rounds, quick }) {
    const [round, counting] = quick ? [0.6, 5] : [ROUND_MAX_S, 10];
    return lookedAt(candidates).length * (2 + round + rounds * round + counting);
  },
  measure,
};
