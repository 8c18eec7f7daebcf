/** The second half of A1: what idle conversations take of the service's memory, and what the next turn of one costs among so many. */
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import type { LoadClient } from '../../load/load.ts';
import type { StreamClient } from '../../load/turn-client.ts';
import { rssBytes } from '../../meters/cpu.ts';
import type { Finding, Point, QuestionScene } from '../../question.ts';
import { type Column, digits, median, tableOf, whole } from '../../report/table.ts';
import { pause } from '../../servers/processes.ts';
import type { LiveApp, Server } from '../../servers/service.ts';
import { type Asked, takeTurn } from './growing-place.ts';
import {
  COST_COLUMNS,
  costOfTurns,
  curveOf,
  type Growth,
  growthsOf,
  growthWarnings,
  newConversations,
  repeated,
  type SizeCost,
  type Turns,
  warningsOf,
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
const AT_A_TIME = 16;
/** What is measured is a turn of one token. */
const MEASURED = { tokens: 1 };

/** The next turns of a size, each in the conversation that was asked longest ago. */
function takeTurns(server: Server, liveKey: string, written: readonly Asked[], from: number): Promise<Turns> {
  return repeated(server, { times: TURNS_A_ROUND, atATime: AT_A_TIME }, async ([client], at) => {
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
export async function measureMemory(server: Server, app: LiveApp, client: LoadClient, scene: QuestionScene): Promise<Finding> {
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
