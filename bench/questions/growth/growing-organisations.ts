/** G3: what a start takes, what the service holds and what a turn costs as its organisations grow, each of which is a file. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dataLayout } from '../../../storage/data-layout.ts';
import { compileLoad } from '../../load/load.ts';
import { cpuNs, descriptorsOf, rssBytes } from '../../meters/cpu.ts';
import { fitting } from '../../meters/room.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range } from '../../report/report.ts';
import { createLiveAppIn, type Server } from '../../servers/service.ts';
import { makeOrganisations } from './copied-organisations.ts';
import {
  COST_COLUMNS,
  costCells,
  costOfTurns,
  growthsOf,
  newConversations,
  type SizeCost,
  type TurnCost,
  warningsOf,
} from './growing-cost.ts';
import { type Place, startAt, withPlace } from './growing-place.ts';
import { curveOf, type Growth, pointOf } from './growth.ts';

const SIZES = [1, 10, 100, 1_000, 10_000];
const QUICK_SIZES = [1, 10, 100];
/** With so many a start takes long: it is made fewer times. */
const FEW_STARTS = { from: 1_000, starts: 3 };
const ONE_START_FROM = 10_000;
/** A start that takes longer hangs. */
const START_MAX_MS = 10 * 60_000;
const TURN_ROUNDS = 3;
const TURNS_A_ROUND = 500;
const WARM_UP_TURNS = 2_000;
const QUICK_WARM_UP_TURNS = 200;
/** Organisations whose files the service is asked to read. */
const LOOKED_AT = 20;
const PAGE = 100;
const ANSWERS = { tokens: 1 };
/** An empty file with what SQLite keeps beside it, for a guess beforehand. */
const ORGANISATION_BYTES = 500_000;
/** What the service aims at, with the most organisations. */
const TARGET = { startS: 2, descriptors: 512 };
const OF = 'organisations';
/** What `stat` counts in. */
const BLOCK_BYTES = 512;

/** One start, at the moment at which it is ready. */
interface Start {
  readonly ready_s: number;
  readonly cpu_s: number;
  readonly descriptors: number;
  readonly rss_bytes: number;
}

interface Measured extends SizeCost {
  readonly starts: readonly Start[];
  readonly disk_bytes_each: number;
}

async function start(place: Place): Promise<{ server: Server; begun: Start }> {
  const startedMs = performance.now();
  const server = await startAt(place, ANSWERS, START_MAX_MS);
  const { pid } = server.process;
  const ready_s = (performance.now() - startedMs) / 1_000;
  return { server, begun: { ready_s, cpu_s: cpuNs(pid) / 1e9, descriptors: descriptorsOf(pid), rss_bytes: rssBytes(pid) } };
}

/** What an organisation takes of the disk, with what lies beside its file while the service runs: the one in the middle, which is empty. */
function diskBytesEach({ dataDir }: Place, ids: readonly string[]): number {
  const folder = dataLayout(dataDir).organisations;
  const bytes = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const name of readdirSync(folder)) {
    const id = name.split('.')[0] ?? '';
    const { blocks = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    bytes.set(id, (bytes.get(id) ?? 0) + blocks * BLOCK_BYTES);
  }
  return median([...bytes.values()]);
}

interface OrganisationsPage {
  readonly orgs: readonly { readonly id: string }[];
  readonly next: string | null;
}

/** The running service lists all of them, and reads the files of some. @throws Error when it does not. */
export async function checkOrganisations({ operator, origin }: Server, ids: readonly string[]): Promise<void> {
  const listed = new Set<string>();
  let after = '';
  while (listed.size <= ids.length) {
    const page = (await operator.call('GET', `/orgs?limit=${PAGE}&after=${after}`)) as OrganisationsPage;
    for (const { id } of page.orgs) listed.add(id);
    if (page.next === null) break;
    after = page.next;
  }
  const missing = ids.filter((id) => !listed.has(id)).length;
  if (missing > 0 || listed.size !== ids.length) throw new Error(`the service lists ${listed.size} organisations of ${ids.length}`);
  const step = Math.ceil(ids.length / LOOKED_AT);
  for (const id of ids.filter((_, at) => at % step === 0)) await operator.call('GET', `/orgs/${id}/usage`);
  const { status } = (await (await fetch(`${origin}/readyz`)).json()) as { status: string };
  if (status !== 'ready') throw new Error(`with ${ids.length} organisations the service is ${status}: see its log`);
}

function startsOf(size: number, rounds: number): number {
  if (size >= ONE_START_FROM) return 1;
  return size >= FEW_STARTS.from ? Math.min(rounds, FEW_STARTS.starts) : rounds;
}

/** Starts the service some times on what there is; on the last start the newest organisation gets its load. */
async function measureSize(place: Place, program: string, ids: readonly string[], { rounds, quick }: QuestionScene): Promise<Measured> {
  const starts: Start[] = [];
  const count = startsOf(ids.length, rounds);
  while (starts.length < count - 1) {
    const { server, begun } = await start(place);
    starts.push(begun);
    await server.stop();
  }
  const { server, begun } = await start(place);
  try {
    starts.push(begun);
    const disk_bytes_each = diskBytesEach(place, ids);
    await checkOrganisations(server, ids);
    const { liveKey } = await createLiveAppIn(server.operator, ids.at(-1) ?? '');
    const take = (turns: number) => newConversations({ program, outDir: place.outDir }, server, liveKey, turns);
    await take(quick ? QUICK_WARM_UP_TURNS : WARM_UP_TURNS);
    const costs: TurnCost[] = [];
    while (costs.length < TURN_ROUNDS) costs.push(await costOfTurns(server.process, () => take(TURNS_A_ROUND)));
    return { size: ids.length, rounds: costs, starts, disk_bytes_each };
  } finally {
    await server.stop();
  }
}

async function measureAll(place: Place, scene: QuestionScene, sizes: readonly number[]): Promise<Measured[]> {
  const program = compileLoad(scene.outDir);
  const ids: string[] = [];
  const measured: Measured[] = [];
  for (const size of sizes) {
    scene.onStep(`G3: ${size} organisations`);
    ids.push(...(await makeOrganisations(place.dataDir, size - ids.length)));
    measured.push(await measureSize(place, program, ids, scene));
  }
  return measured;
}

const COLUMNS = [OF, 'starts', 'ready after s', 'range', 'CPU s of it', 'descriptors', 'RSS MB', 'disk KB each', ...COST_COLUMNS];

function rowOf({ size, rounds, starts, disk_bytes_each }: Measured): string[] {
  const of = (value: (start: Start) => number): number[] => starts.map(value);
  return [
    size.toLocaleString('en-US'),
    String(starts.length),
    digits(median(of(({ ready_s }) => ready_s))),
    starts.length > 1 ? range(of(({ ready_s }) => ready_s)) : 'once',
    digits(median(of(({ cpu_s }) => cpu_s))),
    Math.round(median(of(({ descriptors }) => descriptors))).toLocaleString('en-US'),
    digits(median(of(({ rss_bytes }) => rss_bytes)) / 1e6),
    digits(disk_bytes_each / 1e3),
    ...costCells(rounds),
  ];
}

function startGrowths(sizes: readonly Measured[]): Growth[] {
  const pointsOf = (value: (start: Start) => number) => sizes.map(({ size, starts }) => pointOf(size, starts.map(value)));
  return [
    { cost: 'Time of a start until it is ready', unit: 's', of: OF, points: pointsOf(({ ready_s }) => ready_s) },
    { cost: 'Number of descriptors after a start', unit: '', of: OF, points: pointsOf(({ descriptors }) => descriptors) },
    { cost: 'Memory after a start', unit: 'MB', of: OF, points: pointsOf(({ rss_bytes }) => rss_bytes / 1e6) },
  ];
}

function missedTargets(sizes: readonly Measured[]): string[] {
  const most = sizes.find(({ size }) => size === SIZES.at(-1));
  if (most === undefined) return [];
  const [readyS, descriptors] = [most.starts.map(({ ready_s }) => ready_s), most.starts.map((start) => start.descriptors)].map(median);
  const many = `With ${most.size.toLocaleString('en-US')} organisations a start`;
  return [
    ...((readyS ?? 0) > TARGET.startS ? [`${many} is ready after ${digits(readyS ?? 0)} s; it aims at ${TARGET.startS} s.`] : []),
    ...((descriptors ?? 0) > TARGET.descriptors ? [`${many} holds ${descriptors} descriptors; it aims at ${TARGET.descriptors}.`] : []),
  ];
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const bytesOf = (sizes: readonly number[]): number => (sizes.at(-1) ?? 0) * ORGANISATION_BYTES;
  const { sizes, leftOut } = fitting(scene.quick ? QUICK_SIZES : SIZES, bytesOf);
  const measured = await withPlace(scene.outDir, (place) => measureAll(place, scene, sizes));
  const growths = [...startGrowths(measured), ...growthsOf(OF, measured)];
  return {
    tables: [{ columns: COLUMNS, rows: measured.map(rowOf) }],
    curves: growths.map(curveOf),
    warnings: [...leftOut, ...missedTargets(measured), ...warningsOf(growths, OF, measured)],
    data: { sizes: measured, left_out: leftOut },
  };
}

export const growingOrganisations: Question = {
  name: 'G3',
  what: 'starts and turns as organisations grow',
  expectedSeconds: ({ quick, rounds }) => (quick ? 25 : 170 + 6 * rounds),
  measure,
};
