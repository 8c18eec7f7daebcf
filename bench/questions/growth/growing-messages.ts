/** G1: what the next turn of a conversation costs as its messages grow. It owns the conversations and who asks in which of them. */
import { readConversationHead } from '../../../storage/conversations/transcripts.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { StreamClient } from '../../load/stream-client.ts';
import { fitting } from '../../meters/room.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { median } from '../../report/report.ts';
import { createLiveApp, type LiveApp, type Server } from '../../servers/service.ts';
import { inOrderOf, reasonOf } from '../../workloads/rounds.ts';
import { copyConversation } from '../turns/copied-conversations.ts';
import { COST_COLUMNS, costCells, costOfTurns, growthsOf, type SizeCost, type TurnCost, type Turns, warningsOf } from './growing-cost.ts';
import { converse, type Place, startAt, takeTurn, withPlace } from './growing-place.ts';
import { curveOf, usesOf } from './growth.ts';

/** A turn leaves two messages, its question and its answer: the least that a conversation has. */
const SIZES = [2, 10, 100, 1_000];
const QUICK_SIZES = [2, 10, 100];
const TURNS_A_ROUND = 400;
const QUICK_TURNS_A_ROUND = 100;
/** Rounds that do not count: code is compiled by then. */
const WARM_UP_ROUNDS = 3;
const AT_A_TIME = 16;
/** Answers that stand in the conversations have 200 characters; what is measured is a turn of one token. */
const STORED = { tokens: 50 };
const MEASURED = { tokens: 1 };
/** What a turn with such an answer takes of the disk, for a guess beforehand. */
const TURN_BYTES = 4_000;
const OF = 'messages in its conversation';

interface Conversation {
  readonly id: string;
  readonly device: string;
  /** Turns that were answered in it since it was written. */
  turns: number;
}

/** Conversations of one size: whoever was asked longest ago is the next. */
export interface Written {
  readonly size: number;
  readonly conversations: Conversation[];
  next: number;
}

/** So that none is asked more often than leaves it at about its size. */
function conversationsOf(size: number, turns: number): number {
  return Math.ceil(turns / usesOf(size, 2));
}

/** Writes conversations of every size that are enough for so many turns each. */
async function write(place: Place, sizes: readonly number[], turns: number): Promise<{ app: LiveApp; written: Written[] }> {
  const server = await startAt(place, STORED);
  let app: LiveApp;
  const originals: { size: number; id: string }[] = [];
  try {
    app = await createLiveApp(server.operator);
    for (const size of sizes) originals.push({ size, id: await converse(server, app.liveKey, size / 2, STORED) });
  } finally {
    await server.stop();
  }
  const file = dataLayout(place.dataDir).organisation(app.organisationId);
  const written = originals.map(({ size, id }): Written => {
    const conversations: Conversation[] = [];
    copyConversation(file, id, conversationsOf(size, turns), (copy) => conversations.push({ ...copy, turns: 0 }));
    return { size, conversations, next: 0 };
  });
  return { app, written };
}

/** The next turn in so many conversations of a size, some at a time. */
export async function takeTurns({ port }: Server, liveKey: string, written: Written, turns: number): Promise<Turns> {
  const times: number[] = [];
  const reasons: string[] = [];
  let left = turns;
  const work = async (): Promise<void> => {
    const client = new StreamClient(port);
    while (left-- > 0) {
      const conversation = written.conversations[written.next++ % written.conversations.length] as Conversation;
      try {
        times.push((await takeTurn(client, liveKey, conversation, MEASURED)).firstMs);
        conversation.turns++;
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
    client.close();
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return { ok: times.length, broken: reasons.length, firstP50Ms: median(times), reasons };
}

/** Each conversation has the messages that it was written with, and two for every turn. @throws Error when one has not. */
function check(place: Place, { organisationId }: LiveApp, all: readonly Written[]): void {
  const db = openReader(dataLayout(place.dataDir).organisation(organisationId));
  try {
    for (const { size, conversations } of all)
      for (const { id, turns } of conversations) {
        const messages = readConversationHead(db, id)?.messages ?? 0;
        if (messages < size + 2 * turns) throw new Error(`${id} has ${messages} messages: ${size} were written and ${turns} turns taken`);
      }
  } finally {
    db.close();
  }
}

function turnsOf({ quick, rounds }: QuestionScene) {
  const round = quick ? QUICK_TURNS_A_ROUND : TURNS_A_ROUND;
  return { round, all: round * (rounds + WARM_UP_ROUNDS) };
}

async function measureAt(place: Place, scene: QuestionScene, sizes: readonly number[]): Promise<SizeCost[]> {
  const turns = turnsOf(scene);
  scene.onStep('G1: writes conversations');
  const { app, written } = await write(place, sizes, turns.all);
  const server = await startAt(place, MEASURED);
  try {
    const rounds = new Map<Written, TurnCost[]>(written.map((each) => [each, []]));
    for (let round = -WARM_UP_ROUNDS; round < scene.rounds; round++) {
      scene.onStep(`G1: ${round < 0 ? 'warms up' : `round ${round + 1} of ${scene.rounds}`}`);
      for (const each of inOrderOf(written, round)) {
        const cost = await costOfTurns(server.process, () => takeTurns(server, app.liveKey, each, turns.round));
        if (round >= 0) rounds.get(each)?.push(cost);
      }
    }
    check(place, app, written);
    return Array.from(rounds, ([{ size }, costs]) => ({ size, rounds: costs }));
  } finally {
    await server.stop();
  }
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const turns = turnsOf(scene).all;
  const bytesOf = (sizes: readonly number[]): number =>
    sizes.reduce((bytes, size) => bytes + (conversationsOf(size, turns) * size * TURN_BYTES) / 2, 0);
  const { sizes, leftOut } = fitting(scene.quick ? QUICK_SIZES : SIZES, bytesOf);
  const costs = await withPlace(scene.outDir, (place) => measureAt(place, scene, sizes));
  const growths = growthsOf(OF, costs);
  const rows = costs.map(({ size, rounds }) => [size.toLocaleString('en-US'), ...costCells(rounds)]);
  return {
    tables: [{ columns: ['messages', ...COST_COLUMNS], rows }],
    curves: growths.map(curveOf),
    warnings: [...leftOut, ...warningsOf(growths, OF, costs)],
    data: { sizes: costs, left_out: leftOut },
  };
}

export const growingMessages: Question = {
  name: 'G1',
  what: 'the next turn as the messages of its conversation grow',
  expectedSeconds: ({ quick, rounds }) => (quick ? 20 : 45 + 8 * rounds),
  measure,
};
