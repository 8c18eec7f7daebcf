/**
 * W7, W8 and W9: what the turns of real conversations cost, for each request to the model, beside the plain turn of W3. Each kind has a
 * server of its own; they are measured in turns. Owns the rounds and the table; the kinds have files of their own.
 */
import { dataLayout } from '../../../storage/data-layout.ts';
import { TurnClient } from '../../load/turn-client.ts';
import { SETTLE_MS, spending } from '../../meters/spending.ts';
import { type Model, type Served, withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { percentile } from '../../report/table.ts';
import type { Build, Candidate } from '../../servers/candidate.ts';
import { SERVER_CORE } from '../../servers/processes.ts';
import { createLiveApp, modelEnv, type Server, startProgram, withDataDir } from '../../servers/service.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { listAndAction } from './list-and-action.ts';
import { longConversation } from './long-conversation.ts';
import { findingOf, type Played, type Round } from './turn-finding.ts';
import { PLAIN, type PlayTurn, type TurnKind, type TurnTimes } from './turn-kind.ts';
import { turnWithSearch } from './turn-with-search.ts';

/** Turns at a time, as in W3. */
const STREAMS = 64;
const WARM_UP_MS = 4_000;
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

interface Loaded {
  readonly times: readonly TurnTimes[];
  readonly broken: number;
  readonly reasons: readonly string[];
}

/** Turns of all streams, one after the other in each, until the time is over and those under way have ended. */
export async function loadTurns(client: TurnClient, play: PlayTurn, streams: number, forMs: number): Promise<Loaded> {
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

async function measureRound(player: Player, served: () => Promise<Served>, forMs: number): Promise<Round> {
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
    for (const player of players) await loadPlayer(player, scene.quick ? QUICK_MS : WARM_UP_MS);
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
