/**
 * A1: what it takes to activate an idle conversation and to passivate it. The actor of a
 * conversation lives while a turn of it runs or waits: four turns that wait for each other are one life, four that follow each other are
 * four. What they differ in is three lives.
 */
import { WAITING_TURNS_MAX } from '../../../protocol/limits.ts';
import { StreamClient } from '../../load/turn-client.ts';
import { mintDevice } from '../../loadtest/service-api.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range, sum } from '../../report/table.ts';
import { createLiveApp, type Server } from '../../servers/service.ts';
import { ROUNDS_TO_JUDGE } from '../../workloads/comparison.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { type Asked, costOfTurns, repeated, startAt, type TurnCost, takeTurn, withPlace } from './growth.ts';

/** One token after 20 ms: long enough for the turns that are sent with the first one to wait for it. */
const ANSWERS = { tokens: 1, apartMs: 20 };
const TURNS = 1 + WAITING_TURNS_MAX;
/** Lives that four turns have apart, and not together. */
const MORE_LIVES = TURNS - 1;
/** Three quarters of a core, so that turns wait for each other and for nothing else. */
const AT_A_TIME = 12;
const SETS = 240;
const QUICK_SETS = 48;
const AIM_US = 150;

type Kind = 'together' | 'apart';
const KINDS: readonly Kind[] = ['together', 'apart'];

/** Connections to the server: a waiting turn needs one of its own. */
type Lines = readonly StreamClient[];

/** The turns of a set, in a conversation that is idle before and after. @throws Error when one was not whole */
async function takeSet(lines: Lines, liveKey: string, asked: Asked, kind: Kind): Promise<number> {
  const turn = (line: StreamClient): Promise<{ firstMs: number }> => takeTurn(line, liveKey, asked, ANSWERS);
  if (kind === 'together') {
    // All have ended before a connection is used again, whichever failed.
    const answers = await Promise.allSettled(lines.map(turn));
    const failed = answers.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
    return (answers[0] as PromiseFulfilledResult<{ firstMs: number }>).value.firstMs;
  }
  let firstMs = Number.NaN;
  for (const line of lines) ({ firstMs } = await turn(line));
  return firstMs;
}

/** Idle conversations of one turn, each of a device of its own. */
async function begin(server: Server, liveKey: string, count: number): Promise<Asked[]> {
  const client = new StreamClient(server.port);
  const begun: Asked[] = [];
  try {
    while (begun.length < count) {
      const device = mintDevice();
      begun.push({ device, id: (await takeTurn(client, liveKey, { device }, ANSWERS)).conversationId });
    }
    return begun;
  } finally {
    client.close();
  }
}

/** One round of a kind: so many sets, each in the conversation that was idle for longest. */
function takeSets(server: Server, liveKey: string, conversations: readonly Asked[], kind: Kind, sets: number): Promise<TurnCost> {
  return costOfTurns(server.process, async () => {
    const taken = await repeated(server, { times: sets, atATime: AT_A_TIME, clients: TURNS }, (lines, at) =>
      takeSet(lines, liveKey, conversations[at % conversations.length] as Asked, kind),
    );
    return { ...taken, ok: taken.ok * TURNS };
  });
}

export interface Lives {
  readonly kind: Kind;
  readonly rounds: TurnCost[];
}

async function measureLives(server: Server, liveKey: string, scene: QuestionScene): Promise<Lives[]> {
  scene.onStep('A1: begins conversations');
  const conversations = await begin(server, liveKey, AT_A_TIME * 4);
  const sets = scene.quick ? QUICK_SETS : SETS;
  const lives = KINDS.map((kind): Lives => ({ kind, rounds: [] }));
  for (let round = -1; round < scene.rounds; round++) {
    scene.onStep(`A1: ${round < 0 ? 'warms up' : `round ${round + 1} of ${scene.rounds}`}`);
    for (const { kind, rounds } of inOrderOf(lives, round)) {
      const cost = await takeSets(server, liveKey, conversations, kind, sets);
      if (round >= 0) rounds.push(cost);
    }
  }
  return lives;
}

/** What each round says of one activation and passivation, in µs of CPU time. */
export function livesCost([together, apart]: readonly [Lives, Lives]): number[] {
  return apart.rounds.map(({ cpu_us }, at) => ((cpu_us - (together.rounds[at]?.cpu_us ?? Number.NaN)) * TURNS) / MORE_LIVES);
}

export function livesFinding(lives: readonly [Lives, Lives]): Pick<Finding, 'tables' | 'warnings'> {
  const costs = livesCost(lives);
  // A round in which more lives cost less says that other work on the machine was larger than what is asked for.
  const isTold = costs.length >= ROUNDS_TO_JUDGE && costs.every((cost) => cost > 0);
  const broken = sum(lives.flatMap(({ rounds }) => rounds.map((round) => round.broken)));
  const [together, apart] = lives.map(({ rounds }) => digits(median(rounds.map(({ cpu_us }) => cpu_us)))) as [string, string];
  const row = [together, apart, isTold ? digits(median(costs)) : 'not told apart', range(costs), String(broken), `≤ ${AIM_US} µs`];
  const columns = ['µs a turn, together', 'apart', 'activate and passivate µs', 'range', 'broken', 'aim'];
  const warnings = [
    ...(isTold && median(costs) > AIM_US ? [`Activating and passivating takes ${digits(median(costs))} µs (aim: ${AIM_US}).`] : []),
    ...(broken > 0 ? [`${broken} sets of turns were not whole.`] : []),
  ];
  return { tables: [{ title: 'A life of a conversation, CPU', columns, rows: [row] }], warnings };
}

function measure(scene: QuestionScene): Promise<Finding> {
  return withPlace(scene.outDir, async (place) => {
    const server = await startAt(place, ANSWERS);
    try {
      const app = await createLiveApp(server.operator);
      const lives = (await measureLives(server, app.liveKey, scene)) as [Lives, Lives];
      return { ...livesFinding(lives), data: lives };
    } finally {
      await server.stop();
    }
  });
}

export const idleConversations: Question = {
  name: 'A1',
  what: 'activating an idle conversation',
  expectedSeconds: ({ quick, rounds }) => (quick ? 10 : 15 + 5 * rounds),
  measure,
};
