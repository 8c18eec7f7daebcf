/** G2: what a new conversation of one turn costs as the conversations of its organisation's file grow. */
import { statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dataLayout } from '../../../storage/data-layout.ts';
import { compileLoad } from '../../load/load.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, tableOf, whole } from '../../report/table.ts';
import { createLiveApp, type LiveApp, type Server } from '../../servers/service.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { type CopiedConversation, copyConversation } from '../turns/copied-conversations.ts';
import {
  COST_COLUMNS,
  converse,
  costOfTurns,
  curveOf,
  growthsOf,
  newConversations,
  type Place,
  type SizeCost,
  startAt,
  type TurnCost,
  usesOf,
  warningsOf,
  withPlace,
} from './growth.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = [1_000, 10_000];
const TURNS_A_ROUND = 500;
const ANSWERS = { tokens: 1 };
/** In a file of their own, so that code is compiled; then in each file, so that it is open. */
const WARM_UP_TURNS = 3_000;
const QUICK_WARM_UP_TURNS = 500;
const FILE_WARM_UP_TURNS = 64;
/** What a conversation of one turn takes of the disk, for a guess beforehand. */
const CONVERSATION_BYTES = 3_000;
const OF = "conversations in the organisation's file";

/** How many files of a size so many rounds need, so that none grows far beyond it. */
function filesOf(size: number, rounds: number): number {
  return Math.ceil(rounds / usesOf(size, TURNS_A_ROUND));
}

function fill(place: Place, app: LiveApp, original: string, size: number) {
  const file = dataLayout(place.dataDir).organisation(app.organisationId);
  const before = statSync(file).size;
  const startedMs = performance.now();
  let last: CopiedConversation | undefined;
  copyConversation(file, original, size, (copy) => {
    last = copy;
  });
  const fileBytes = statSync(file).size;
  const fillS = (performance.now() - startedMs) / 1_000;
  if (last === undefined) throw new Error('nothing was written');
  return { app, size, fillS, fileBytes, bytesEach: (fileBytes - before) / size, isOpen: false, last };
}

/** The messages of what was written, as the running service reads them. @throws Error when it does not. */
export async function readBack(server: Server, liveKey: string, { id, device }: CopiedConversation): Promise<readonly unknown[]> {
  const headers = { 'X-Service-Key': liveKey, 'X-Service-Device': device };
  const response = await fetch(`${server.origin}/v1/conversations/${id}/messages`, { headers });
  const body = await response.text();
  const { messages = [] } = response.ok ? (JSON.parse(body) as { messages?: readonly unknown[] }) : {};
  if (messages.length === 0)
    throw new Error(`the service does not read ${id}, which was written: ${response.status} ${body.slice(0, 300)}`);
  return messages;
}

/** An app for every file: `sizes` has the size of each. */
async function fillAll(place: Place, sizes: readonly number[], onStep: QuestionScene['onStep']): Promise<ReturnType<typeof fill>[]> {
  const server = await startAt(place, ANSWERS);
  const made: { app: LiveApp; original: string; size: number }[] = [];
  try {
    for (const size of sizes) {
      const app = await createLiveApp(server.operator);
      made.push({ app, original: await converse(server, app.liveKey, 1, ANSWERS), size });
    }
  } finally {
    await server.stop();
  }
  return made.map(({ app, original, size }) => {
    onStep(`G2: writes ${size} conversations`);
    return fill(place, app, original, size);
  });
}

interface Measured extends SizeCost {
  readonly bytes_each: number;
  readonly file_bytes: number;
  readonly fill_s: number;
}

async function measureAt(place: Place, { rounds, quick, onStep }: QuestionScene, sizes: readonly number[]): Promise<Measured[]> {
  const files = sizes.flatMap((size) => Array<number>(filesOf(size, rounds)).fill(size));
  const [warmUp, ...filled] = await fillAll(place, [Math.min(...sizes), ...files], onStep);
  const server = await startAt(place, ANSWERS);
  const client = { program: compileLoad(place.outDir), outDir: place.outDir };
  const take = (app: LiveApp, turns: number) => newConversations(client, server, app.liveKey, turns);
  try {
    for (const { app, last } of filled) await readBack(server, app.liveKey, last);
    if (warmUp !== undefined) await take(warmUp.app, quick ? QUICK_WARM_UP_TURNS : WARM_UP_TURNS);
    const costs = new Map<number, TurnCost[]>(sizes.map((size) => [size, []]));
    for (let round = 0; round < rounds; round++) {
      onStep(`G2: round ${round + 1} of ${rounds}`);
      for (const size of inOrderOf(sizes, round)) {
        const ofSize = filled.filter((each) => each.size === size);
        const file = ofSize[Math.floor(round / usesOf(size, TURNS_A_ROUND))];
        if (file === undefined) throw new Error(`there is no file of ${size} conversations for round ${round + 1}`);
        if (!file.isOpen) await take(file.app, FILE_WARM_UP_TURNS);
        file.isOpen = true;
        costs.get(size)?.push(await costOfTurns(server.process, () => take(file.app, TURNS_A_ROUND)));
      }
    }
    return sizes.flatMap((size) => {
      const file = filled.find((each) => each.size === size);
      const told = file && { bytes_each: file.bytesEach, file_bytes: file.fileBytes, fill_s: file.fillS };
      return told === undefined ? [] : [{ size, rounds: costs.get(size) ?? [], ...told }];
    });
  } finally {
    await server.stop();
  }
}

const COLUMNS: readonly Column<Measured>[] = [
  ['conversations', ({ size }) => whole(size)],
  ...COST_COLUMNS,
  ['bytes a conversation', ({ bytes_each }) => whole(bytes_each)],
  ['file MB', ({ file_bytes }) => digits(file_bytes / 1e6)],
  ['filled in s', ({ fill_s }) => digits(fill_s)],
];

/** What is written beside it, and others who write: a full disk would end more than the benchmark. */
const SPARE = 2;

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
}

/**
 * Leaves out sizes, the largest first, until the disk has twice the room that all that are left take together.
 * @param sizes from the smallest to the largest
 * @param bytesOf what all of these take
 */
export function fitting(
  sizes: readonly number[],
  bytesOf: (sizes: readonly number[]) => number,
  free = freeBytes(),
): { readonly sizes: readonly number[]; readonly leftOut: readonly string[] } {
  const bytes = bytesOf(sizes);
  const largest = sizes.at(-1);
  if (largest === undefined || bytes * SPARE <= free) return { sizes, leftOut: [] };
  const gb = (value: number): string => `${(value / 1e9).toFixed(1)} GB`;
  const why = `${gb(bytes)} would be written, and ${tmpdir()} has ${gb(free)} free, less than twice that. Set TMPDIR to a larger disk.`;
  const rest = fitting(sizes.slice(0, -1), bytesOf, free);
  return { sizes: rest.sizes, leftOut: [`${largest.toLocaleString('en-US')} is left out: ${why}`, ...rest.leftOut] };
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const bytesOf = (sizes: readonly number[]): number =>
    sizes.reduce((bytes, size) => bytes + filesOf(size, scene.rounds) * size * CONVERSATION_BYTES, 0);
  const { sizes, leftOut } = fitting(scene.quick ? QUICK_SIZES : SIZES, bytesOf);
  const costs = await withPlace(scene.outDir, (place) => measureAt(place, scene, sizes));
  const growths = growthsOf(OF, costs);
  return {
    tables: [tableOf(COLUMNS, costs)],
    curves: growths.map(curveOf),
    warnings: [...leftOut, ...warningsOf(growths, OF, costs)],
    data: { sizes: costs, left_out: leftOut },
  };
}

export const growingConversations: Question = {
  name: 'G2',
  what: "a new conversation as those of its organisation's file grow",
  expectedSeconds: ({ quick, rounds }) => (quick ? 20 : 140 + 8 * rounds),
  measure,
};
