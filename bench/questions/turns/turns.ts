/**
 * W7, W8 and W9: what the turns of real conversations cost, for each request to the model, beside the plain turn of W3. Each kind has a
 * server of its own; they are measured in turns.
 */
import { dataLayout } from '../../../storage/data-layout.ts';
import { TurnClient } from '../../load/turn-client.ts';
import { SETTLE_MS, spending } from '../../meters/cpu.ts';
import { type Model, type Served, withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, percentile, range, spread, sum, type Table, tableOf, whole } from '../../report/table.ts';
import type { Build, Candidate } from '../../servers/candidate.ts';
import { EARLIER } from '../../servers/candidate.ts';
import { SERVER_CORE } from '../../servers/processes.ts';
import { createLiveApp, modelEnv, type Server, startProgram, withDataDir } from '../../servers/service.ts';
import { type Verdict, verdictOf } from '../../workloads/comparison.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { WINDOW_S, warmUntilStill } from '../../workloads/warm-up.ts';
import { listAndAction, longConversation, PLAIN, type PlayTurn, type TurnKind, type TurnTimes, turnWithSearch } from './turn-kind.ts';

/** Of whole turns; what the model was sent meanwhile. */
export type Round = Awaited<ReturnType<typeof measureRound>>;

export interface Played {
  readonly candidate: string;
  readonly kind: TurnKind;
  readonly rounds: readonly Round[];
}

/** The CPU time, by round, for each request to the model that a whole turn has to make: making more of them does not make it cheaper. */
function cpuUsOf({ kind, rounds }: Played): number[] {
  return rounds.map(({ cpu_ns, turns }) => cpu_ns / 1e3 / (turns * kind.rounds));
}

/** The same as a multiple of another one's in the same round. */
function ratiosOf(played: Played, other: Played): number[] {
  const beside = cpuUsOf(other);
  return cpuUsOf(played).map((us, round) => us / (beside[round] ?? Number.NaN));
}

function plainOf({ candidate }: Played, all: readonly Played[]): Played | undefined {
  return all.find((other) => other.candidate === candidate && other.kind.target === undefined);
}

/** By round, beside the plain turn; none where it is that itself. */
function besidePlain(played: Played, all: readonly Played[]): number[] {
  const plain = plainOf(played, all);
  return plain === undefined || plain === played ? [] : ratiosOf(played, plain);
}

function columnsOf(all: readonly Played[]): readonly Column<Played>[] {
  const of = ({ rounds }: Played, value: (round: Round) => number): number => median(rounds.map(value));
  const pair = (name: 'first_ms' | 'whole_ms') => (played: Played) =>
    [0, 1].map((at) => of(played, (round) => round[name][at] ?? Number.NaN).toFixed(2)).join(' / ');
  const ratio = (shown: (ratios: readonly number[]) => string) => (played: Played) => {
    const ratios = besidePlain(played, all);
    return ratios.length === 0 ? '' : shown(ratios);
  };
  return [
    ['server', ({ candidate }) => candidate],
    ['turns', ({ kind }) => kind.name],
    ['CPU µs a turn', (played) => digits(of(played, ({ cpu_ns, turns }) => cpu_ns / 1e3 / turns))],
    ...spread('CPU µs a model round', cpuUsOf),
    ['÷ W3', ratio((ratios) => median(ratios).toFixed(2))],
    ['range', ratio(range)],
    ['first delta p50 / p99 ms', pair('first_ms')],
    ['whole turn p50 / p99 ms', pair('whole_ms')],
    ['turns per s', (played) => whole(of(played, ({ turns, wall_s }) => turns / wall_s))],
    ['KB to the model a round', (played) => digits(of(played, ({ request_bytes, requests }) => request_bytes / 1e3 / requests))],
    ['broken', ({ rounds }) => `${sum(rounds.map(({ broken }) => broken))}`],
    ['target', ({ kind }) => (kind.target === undefined ? '' : `≤ ${kind.target} ×`)],
  ];
}

function warningsOf(played: Played, all: readonly Played[]): string[] {
  const { candidate, kind, rounds } = played;
  const who = kind.target === undefined ? `${candidate}, ${kind.name}` : candidate;
  const plain = plainOf(played, all);
  const ratio = plain === undefined ? Number.NaN : median(ratiosOf(played, plain));
  const broken = sum(rounds.map((round) => round.broken));
  const perTurn = median(rounds.map(({ requests, turns }) => requests / turns));
  const warnings: string[] = [];
  if (kind.target !== undefined && ratio > kind.target)
    warnings.push(`${who}: a model round costs ${ratio.toFixed(2)} times that of W3, and should cost at most ${kind.target} times.`);
  if (broken > 0)
    warnings.push(`${who}: ${broken.toLocaleString('en-US')} turns were broken: ${rounds.flatMap(({ reasons }) => reasons)[0]}`);
  else if (perTurn !== kind.rounds) warnings.push(`${who}: the model was asked ${digits(perTurn)} times a turn, not ${kind.rounds} times.`);
  return warnings;
}

const EARLIER_COLUMNS = ['turns', 'CPU µs a turn: earlier', 'now', 'now ÷ earlier', 'by round', 'says'];
const SAYS: Readonly<Partial<Record<Verdict, string>>> = { less: 'cheaper', more: 'dearer' };

/** The service beside an earlier build of itself; none when no earlier one was measured. */
function besideEarlier(all: readonly Played[]): Table[] {
  const rows = all.flatMap((now) => {
    const earlier = all.find(({ candidate, kind }) => candidate === EARLIER && kind === now.kind);
    if (now.candidate !== 'service' || earlier === undefined) return [];
    const [before, after] = [cpuUsOf(earlier), cpuUsOf(now)];
    const ratios = ratiosOf(now, earlier);
    const verdict = verdictOf(ratios);
    const cost = [before, after].map((us) => digits(median(us) * now.kind.rounds));
    return [[now.kind.name, ...cost, median(ratios).toFixed(2), range(ratios), SAYS[verdict] ?? verdict]];
  });
  return rows.length === 0 ? [] : [{ title: 'Beside the earlier build', columns: EARLIER_COLUMNS, rows }];
}

/** The section of a kind, with W3's turns beside its own. */
export function findingOf(all: readonly Played[]): Finding {
  return {
    tables: [tableOf(columnsOf(all), all), ...besideEarlier(all)],
    warnings: all.flatMap((played) => warningsOf(played, all)),
    data: all.map(({ candidate, kind, rounds }) => ({ candidate, turns: kind.name, model_rounds: kind.rounds, rounds })),
  };
}

/** Turns at a time, as in W3. */
const STREAMS = 64;
/** What a warm-up usually takes. */
const WARM_UP_MS = 10_000;
const ROUND_MS = 3_000;
const QUICK_MS = 1_000;
/** The reasons of the first broken turns say enough. */
const SHOWN_MAX = 3;

type Ours = Candidate & { readonly build: Build };

function isOurs(candidate: Candidate): candidate is Ours {
  return candidate.build !== undefined;
}

interface Player extends Played {
  readonly rounds: Round[];
  readonly server: Server;
  readonly client: TurnClient;
  readonly play: PlayTurn;
  stop(): Promise<void>;
}

type Loaded = Awaited<ReturnType<typeof loadTurns>>;

/** Turns of all streams, one after the other in each, until the time is over and those under way have ended. */
export async function loadTurns(client: TurnClient, play: PlayTurn, streams: number, forMs: number) {
  const times: TurnTimes[] = [];
  const reasons: string[] = [];
  let broken = 0;
  const untilMs = performance.now() + forMs;
  const stream = async (number: number): Promise<void> => {
    while (performance.now() < untilMs) {
      try {
        times.push(await play(client, number));
      } catch (error) {
        broken++;
        if (broken <= SHOWN_MAX) reasons.push((error as Error).message);
      }
    }
  };
  await Promise.all(Array.from({ length: streams }, (_, number) => stream(number)));
  return { times, broken, reasons };
}

/** As `loadTurns`. @throws Error when no turn was whole */
async function loadPlayer({ candidate, kind, server, client, play }: Player, forMs: number): Promise<Loaded> {
  const loaded = await loadTurns(client, play, STREAMS, forMs);
  server.process.check();
  for (const reason of loaded.reasons) process.stderr.write(`${kind.name}: ${candidate}: a turn was broken: ${reason}\n`);
  if (loaded.times.length === 0) throw new Error(`${kind.name}, ${candidate}: no turn was whole: ${loaded.reasons[0] ?? 'nothing came'}`);
  return loaded;
}

async function measureRound(player: Player, served: () => Promise<Served>, forMs: number) {
  const before = await served();
  const {
    result: { times, broken, reasons, wallS },
    ns: [cpu = 0],
  } = await spending([player.server.process], async () => {
    const fromMs = performance.now();
    return { ...(await loadPlayer(player, forMs)), wallS: (performance.now() - fromMs) / 1e3 };
  });
  const after = await served();
  const both = (each: readonly number[]): [number, number] => [percentile(each, 0.5), percentile(each, 0.99)];
  return {
    turns: times.length,
    broken,
    reasons,
    cpu_ns: cpu,
    wall_s: wallS,
    requests: after.requests - before.requests,
    request_bytes: after.bytes - before.bytes,
    first_ms: both(times.map(({ firstMs }) => firstMs)),
    whole_ms: both(times.map(({ wholeMs }) => wholeMs)),
  };
}

/** Starts a server for this kind alone and prepares what its turns need. */
export function startPlayer(
  kind: TurnKind,
  { name, build }: Ours,
  { outDir, quick }: Pick<QuestionScene, 'outDir' | 'quick'>,
  upstream: string,
): Promise<Player> {
  return withDataDir(async (dataDir, remove) => {
    const startWith = (model: string): Promise<Server> => {
      const env = modelEnv({ model, upstream });
      return startProgram({ name: `${name}-${kind.name}`, core: SERVER_CORE, dataDir, outDir, env, file: build.file });
    };
    let server = await startWith(kind.preparedBy ?? kind.model);
    try {
      const { operator } = server;
      const app = await createLiveApp(operator);
      const play = await kind.prepare({
        app,
        operator,
        quick,
        streams: STREAMS,
        components: new Set([...build.components, ...kind.components]),
        client: () => new TurnClient(server.port),
        async withFile(model, work) {
          await server.stop();
          work(dataLayout(dataDir).organisation(app.organisationId));
          server = await startWith(model);
        },
      });
      const client = new TurnClient(server.port);
      const stop = async (): Promise<void> => {
        client.close();
        await server.stop();
        remove();
      };
      return { candidate: name, kind, rounds: [], server, client, play, stop };
    } catch (error) {
      await server.stop();
      throw error;
    }
  });
}

async function playAll(kind: TurnKind, model: Model, scene: QuestionScene): Promise<readonly Played[]> {
  const players: Player[] = [];
  try {
    for (const candidate of scene.candidates.filter(isOurs)) {
      for (const each of [PLAIN, kind]) {
        scene.onStep(`${kind.name}: ${candidate.name} prepares ${each.name}`);
        players.push(await startPlayer(each, candidate, scene, model.origin));
      }
    }
    const warm = scene.quick ? { maxS: 0 } : {};
    const windowMs = scene.quick ? QUICK_MS : WINDOW_S * 1e3;
    for (const player of players)
      await warmUntilStill(async () => median(cpuUsOf({ ...player, rounds: [await measureRound(player, model.served, windowMs)] })), warm);
    for (let round = 0; round < scene.rounds; round++) {
      scene.onStep(`${kind.name}: round ${round + 1} of ${scene.rounds}`);
      for (const player of inOrderOf(players, round))
        player.rounds.push(await measureRound(player, model.served, scene.quick ? QUICK_MS : ROUND_MS));
    }
  } finally {
    for (const player of players) await player.stop();
  }
  return players;
}

function questionOf(kind: TurnKind): Question {
  return {
    name: kind.name,
    what: kind.what,
    asks: isOurs,
    expectedSeconds: ({ candidates, quick, rounds }) => {
      const [warmUpMs, roundMs] = quick ? [QUICK_MS, QUICK_MS] : [WARM_UP_MS, ROUND_MS];
      const playedS = (warmUpMs + rounds * (roundMs + SETTLE_MS)) / 1e3;
      return candidates.filter(isOurs).length * (PLAIN.preparedInS + kind.preparedInS + 2 * playedS);
    },
    measure: (scene: QuestionScene): Promise<Finding> =>
      withModel(scene.outDir, async (model) => findingOf(await playAll(kind, model, scene))),
  };
}

/** In the order in which they are played. */
export const TURN_KINDS: readonly TurnKind[] = [listAndAction, longConversation, turnWithSearch];

export const turns: readonly Question[] = TURN_KINDS.map(questionOf);
