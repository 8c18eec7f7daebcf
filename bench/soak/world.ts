/**
 * What a soak runs: a cell of a node that nobody ends and of a supervisor with two workers on the same directory, a second cell, an
 * organisation that stays and one that moves between them; and what is done to them while people talk.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createTestApp, type TestApp } from '../../tests/support/client.ts';
import type { Dice } from '../../tests/support/seeded.ts';
import { Host, OPERATOR_TOKEN } from '../drill/host.ts';
import { ACTION, openSite, type Site } from '../drill/site.ts';
import { familyOf, readIfThere } from '../meters/cpu.ts';
import { type Clock, makeClock } from './clock.ts';

const [CELL, OTHER_CELL] = ['eu-1', 'eu-2'];
/** Deadlines, leases, sessions and a day's change are within. */
const JUMP_MS = [-3_600_000, 2 * 3_600_000] as const;
/** A machine with much other work takes a minute for what takes a second. */
const MOVE_MAX_MS = 300_000;
const LOOK_MS = 250;

export interface World {
  readonly site: Site;
  readonly node: Host;
  readonly workers: Host;
  readonly other: Host;
  readonly stays: TestApp;
  readonly moves: TestApp;
  /** Where the organisation is that moves. */
  readonly place: { cell: string };
  /** That is set up again and again, and never goes live. */
  readonly draftAppId: string;
  /** Undefined where there is no C compiler. */
  readonly clock: Clock | undefined;
  close(): Promise<void>;
}

function clockIn(dir: string): Clock | undefined {
  try {
    return makeClock(dir);
  } catch {
    return undefined;
  }
}

export async function openWorld(): Promise<World> {
  const site = await openSite({ s3: false });
  const clock = clockIn(site.dir);
  const plan = { site, cell: CELL, replica: undefined } as const;
  const node = await Host.make({ ...plan, name: 'node', env: { ...clock?.env, NODE_ID: 'node' } });
  const beside = { ...clock?.env, NODE_ID: 'workers', WORKERS: '2', DATA_DIR: node.dataDir, CELL_URL: node.baseUrl };
  const workers = await Host.make({ ...plan, name: 'workers', env: beside });
  const other = await Host.make({ ...plan, name: 'other', cell: OTHER_CELL, env: { ...clock?.env, NODE_ID: 'other' } });
  const close = async () => {
    for (const host of [workers, node, other]) await host.stop();
    await site.close();
  };
  try {
    await node.start();
    await Promise.all([workers.start(), other.start()]);
    const settings = { messages_per_day: 10_000_000, hard_cap: false };
    const app = () => createTestApp(node.baseUrl, OPERATOR_TOKEN, settings);
    const [stays, moves, apart] = [await app(), await app(), await app()];
    const { app: draft } = await node.operator<{ app: { id: string } }>('POST', `/orgs/${apart.organisationId}/apps`, { name: 'Draft' });
    const action = { external_key: 'do', name: ACTION, description: 'Does it.', method: 'POST', risk: 'write', auth: 'user' };
    const asked = { ...action, confirm_template: 'Do it?', url_template: `${site.backendUrl}/do` };
    for (const { appId } of [stays, moves]) await node.operator('POST', `/apps/${appId}/actions`, { items: [asked] });
    return { site, node, workers, other, stays, moves, draftAppId: draft.id, place: { cell: CELL }, clock, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws Error when it has not arrived in time */
async function move({ node, other, moves, place }: World): Promise<string> {
  const [from, cell] = place.cell === CELL ? [node, OTHER_CELL] : [other, CELL];
  const path = `/orgs/${moves.organisationId}/move`;
  await from.operator('POST', path, { cell });
  for (const endMs = performance.now() + MOVE_MAX_MS; ; await pause(LOOK_MS)) {
    const { move: last } = await from.operator<{ move: { step: string } }>('GET', path);
    if (last.step === 'done') {
      place.cell = cell;
      return `the organisation moved to ${cell}`;
    }
    if (performance.now() > endMs) throw new Error(`the move to ${cell} is ${JSON.stringify(last)} after ${MOVE_MAX_MS} ms`);
  }
}

/** A process of the service below the supervisor, not one that parses files. */
function workerOf(workers: Host, dice: Dice): number {
  const supervisor = workers.pid ?? 0;
  const children = familyOf(supervisor).filter(
    (pid) => readIfThere(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ')[1] === `${supervisor}`,
  );
  return dice.pick(children);
}

/** In this order, again and again. Each says what it did; undefined: it could not. */
const DISTURBANCES: readonly ((world: World, dice: Dice) => Promise<string | undefined> | string | undefined)[] = [
  ({ workers }, dice) => {
    process.kill(workerOf(workers, dice), 'SIGKILL');
    return 'kill -9 of a worker';
  },
  move,
  ({ clock }, dice) => {
    const offsetMs = dice.between(...JUMP_MS);
    clock?.set(offsetMs);
    return clock && `the clock jumps to ${(offsetMs / 60_000).toFixed(0)} min from the right time`;
  },
  async ({ other }) => {
    await other.burn();
    await other.start();
    return 'kill -9 of the second cell';
  },
  ({ workers }) => {
    process.kill(workers.pid ?? 0, 'SIGHUP');
    return 'the workers restart';
  },
  move,
  ({ clock }) => {
    clock?.set(0);
    return clock && 'the clock jumps back to the right time';
  },
  async ({ other }) => {
    await other.stop();
    await other.start();
    return 'the second cell restarts';
  },
];

export interface Mark {
  readonly atS: number;
  readonly what: string;
}

/** Disturbs until the signal. `failed` has what did not come about, which a soak holds against the service. */
export async function disturb(world: World, dice: Dice, everyMs: number, until: AbortSignal) {
  const [marks, failed]: [Mark[], string[]] = [[], []];
  const startMs = performance.now();
  for (let at = 0; !until.aborted; at++) {
    await pause(everyMs, undefined, { signal: until }).catch(() => {});
    if (until.aborted) break;
    const atS = (performance.now() - startMs) / 1_000;
    try {
      const what = await DISTURBANCES[at % DISTURBANCES.length]?.(world, dice);
      if (what !== undefined) marks.push({ atS, what });
    } catch (error) {
      failed.push(`after ${atS.toFixed(0)} s: ${error instanceof Error ? error.message : error}`);
    }
  }
  world.clock?.set(0);
  return { marks, failed };
}
