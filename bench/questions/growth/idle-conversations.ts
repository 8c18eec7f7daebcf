/**
 * A1: what it takes to activate an idle conversation and to passivate it, and what idle conversations take of memory. The actor of a
 * conversation lives while a turn of it runs or waits: four turns that wait for each other are one life, four that follow each other are
 * four. What they differ in is three lives.
 */
import { WAITING_TURNS_MAX } from '../../../protocol/limits.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import type { LoadClient } from '../../load/load.ts';
import { compileLoad } from '../../load/load.ts';
import { StreamClient } from '../../load/turn-client.ts';
import { mintDevice } from '../../loadtest/service-api.ts';
import { rssBytes } from '../../meters/cpu.ts';
import type { Finding, Point, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, range, sum, tableOf, whole } from '../../report/table.ts';
import { pause } from '../../servers/processes.ts';
import type { LiveApp } from '../../servers/service.ts';
import { createLiveApp, type Server } from '../../servers/service.ts';
import { ROUNDS_TO_JUDGE } from '../../workloads/comparison.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import {
  type Asked,
  COST_COLUMNS,
  costOfTurns,
  curveOf,
  type Growth,
  growthsOf,
  growthWarnings,
  newConversations,
  repeated,
  type SizeCost,
  startAt,
  type TurnCost,
  type Turns,
  takeTurn,
  warningsOf,
  withPlace,
} from './growth.ts';

const SIZES = [1_000, 10_000, 100_000];
const QUICK_SIZES = [500, 2_000];
/** The load client is asked for no more at a time, so that a load ends within its minute. */
const BEGUN_AT_ONCE = 20_000;
const TURNS_A_ROUND = 400;
const ROUNDS = 3;
/** From the last turn until memory is read: what beginning them took for a moment is given back. */
const SETTLE_MS = 3_000;
const LOOKS = 10;
const LOOK_EVERY_MS = 200;
const OF = 'idle conversations';
const ASKED_AT_A_TIME = 16;
/** What is measured is a turn of one token. */
const MEASURED = { tokens: 1 };

/** The next turns of a size, each in the conversation that was asked longest ago. */
function takeTurns(server: Server, liveKey: string, written: readonly Asked[], from: number): Promise<Turns> {
  return repeated(server, { times: TURNS_A_ROUND, atATime: ASKED_AT_A_TIME }, async ([client], at) => {
    const asked = written[(from + at) % written.length] as Asked;
    return (await takeTurn(client as StreamClient, liveKey, asked, MEASURED)).firstMs;
  });
}

interface Size extends SizeCost {
  readonly rss: Point;
}

/** Conversations of other sizes were begun before: these are the newest. */
function newest({ dataDir }: Server, { organisationId }: LiveApp, count: number): Asked[] {
  const db = openReader(dataLayout(dataDir).organisation(organisationId));
  try {
    const sql = 'SELECT id, device_id AS device FROM conversations ORDER BY created_at_ms DESC LIMIT :count';
    return db.statement(sql).all({ count }) as { id: string; device: string }[];
  } finally {
    db.close();
  }
}

/** Memory is collected in strides: the median of some looks is what is usually taken. */
async function usualRss({ process: { pid } }: Server, size: number): Promise<Point> {
  await pause(SETTLE_MS);
  const seen: number[] = [];
  for (let look = 0; look < LOOKS; look++) {
    seen.push(rssBytes(pid) / 1e6);
    await pause(LOOK_EVERY_MS);
  }
  return { x: size, y: median(seen), low: Math.min(...seen), high: Math.max(...seen) };
}

/** Begins conversations of one turn until there are so many. @throws Error when some were not whole: there would be fewer */
async function fill(client: LoadClient, server: Server, { liveKey }: LiveApp, missing: number): Promise<void> {
  for (let left = missing; left > 0; left -= BEGUN_AT_ONCE) {
    const due = Math.min(left, BEGUN_AT_ONCE);
    const { ok, reasons } = await newConversations(client, server, liveKey, due);
    if (ok < due) throw new Error(`A1: ${due - ok} conversations were not begun: ${reasons[0] ?? 'nothing came'}`);
  }
}

/** The sizes one after the other, on a server that has taken turns before. */
async function measureMemory(server: Server, app: LiveApp, client: LoadClient, scene: QuestionScene): Promise<Finding> {
  const sizes: Size[] = [];
  let begun = 0;
  for (const size of scene.quick ? QUICK_SIZES : SIZES) {
    scene.onStep(`A1: ${size.toLocaleString('en-US')} idle conversations`);
    await fill(client, server, app, size - begun);
    begun = size;
    const rss = await usualRss(server, size);
    const written = newest(server, app, TURNS_A_ROUND);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push(await costOfTurns(server.process, () => takeTurns(server, app.liveKey, written, round * TURNS_A_ROUND)));
    sizes.push({ size, rounds, rss });
  }
  return findingOf(sizes);
}

export function findingOf(sizes: readonly Size[]): Finding {
  const memory: Growth = { cost: 'Memory of the service', unit: 'MB', of: OF, points: sizes.map(({ rss }) => rss) };
  const costs = growthsOf(OF, sizes);
  const more = (size: Size): string => {
    const before = sizes[sizes.indexOf(size) - 1];
    return before === undefined ? '' : `${Math.round(((size.rss.y - before.rss.y) * 1e6) / (size.size - before.size))}`;
  };
  const columns: readonly Column<Size>[] = [
    [OF, ({ size }) => whole(size)],
    ['RSS MB', ({ rss }) => digits(rss.y)],
    ['bytes more each', more],
    ...COST_COLUMNS,
  ];
  return {
    tables: [tableOf(columns, sizes, 'Idle conversations')],
    curves: [memory, ...costs].map(curveOf),
    warnings: [...growthWarnings(memory), ...warningsOf(costs, OF, sizes)],
    data: sizes,
  };
}

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

async function measure(scene: QuestionScene): Promise<Finding> {
  const program = compileLoad(scene.outDir);
  return withPlace(scene.outDir, async (place) => {
    const server = await startAt(place, ANSWERS);
    try {
      const app = await createLiveApp(server.operator);
      const lives = (await measureLives(server, app.liveKey, scene)) as [Lives, Lives];
      const found = livesFinding(lives);
      const memory = await measureMemory(server, app, { program, outDir: scene.outDir }, scene);
      return {
        tables: [...found.tables, ...memory.tables],
        curves: memory.curves ?? [],
        warnings: [...(found.warnings ?? []), ...(memory.warnings ?? [])],
        data: { lives, memory: memory.data },
      };
    } finally {
      await server.stop();
    }
  });
}

export const idleConversations: Question = {
  name: 'A1',
  what: 'activating an idle conversation, and what idle ones take of memory',
  expectedSeconds: ({ quick, rounds }) => (quick ? 20 : 150 + 5 * rounds),
  measure,
};
