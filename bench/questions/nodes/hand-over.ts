/**
 * H1: what it costs that a request reaches another node than the one that has its conversation: hand-over when it is idle there, forwarding
 * (`forwarding.ts`) when it is busy. For hand-over each conversation goes from node to node
 * and back, every other message staying where the one before was: both kinds are measured in turns on both nodes.
 */
import { randomUUID } from 'node:crypto';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { StreamClient, turnRequest } from '../../load/turn-client.ts';
import { mintDevice } from '../../loadtest/service-api.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, percentile, spread, tableOf } from '../../report/table.ts';
import { type Cell, withTwoNodes } from '../../servers/cell.ts';
import { pause } from '../../servers/processes.ts';
import { missedBy } from '../../workloads/aims.ts';
import { measureForwarding } from './forwarding.ts';

/** One message after the other shows what a hand-over takes, 16 at a time what it takes beside other work. */
const LOADS = [
  { atATime: 1, messages: 1_000, gapMs: 3 },
  { atATime: 16, messages: 4_000, gapMs: 0 },
] as const;
/** So many for each of those that are at work: a conversation has long been idle when its turn comes again. */
const CONVERSATIONS_EACH = 64;
/** Both nodes have compiled what is hot by then. */
const WARM_UP_VISITS = 12;
const QUICK_DIVISOR = 10;
/** A message goes to the node that answered the one before, or to the other one. */
type Kind = 'stayed' | 'moved';

interface Conversation {
  readonly device: string;
  id: string | undefined;
  node: number;
  visits: number;
}

type Worker = ReturnType<typeof startWorkers>[number];

type Samples = Record<Kind, number[]>;

function startWorkers(cell: Cell, atATime: number) {
  return Array.from({ length: atATime }, () => ({
    clients: cell.nodes.map((node) => new StreamClient(node.port)),
    // They begin at different places of their round, so that all four ways come in each moment.
    conversations: Array.from({ length: CONVERSATIONS_EACH }, (_, at) => ({
      device: mintDevice(),
      id: undefined,
      node: 0,
      visits: at % 4,
    })),
    next: 0,
  }));
}

/** One message and its whole answer: milliseconds from sending it to reading turn.start. @throws Error when it was not answered. */
async function send(client: StreamClient, conversation: Conversation, liveKey: string): Promise<number> {
  const request = turnRequest({ liveKey, device: conversation.device }, randomUUID(), conversation.id);
  let startedAtMs = Number.NaN;
  let last = '';
  const sentAtMs = performance.now();
  await client.read(request, ({ type, data, atMs }) => {
    if (type === 'turn.start') {
      startedAtMs = atMs;
      const { conversation_id } = JSON.parse(data) as { conversation_id: string };
      if (conversation.id !== undefined && conversation.id !== conversation_id) throw new Error('a conversation was not continued');
      conversation.id = conversation_id;
    }
    last = data;
  });
  if (!(startedAtMs > 0) || !last.includes('"completed"')) throw new Error(`a message was not answered: ${last.slice(0, 300)}`);
  return startedAtMs - sentAtMs;
}

/** The worker's next conversation gets a message, on the node where it is or on the other one. */
async function step(worker: Worker, liveKey: string, samples: Samples, gapMs: number): Promise<void> {
  const conversation = worker.conversations[worker.next] as Conversation;
  worker.next = (worker.next + 1) % worker.conversations.length;
  conversation.visits++;
  const node = (conversation.visits >> 1) % worker.clients.length;
  const kind: Kind = conversation.id === undefined || node === conversation.node ? 'stayed' : 'moved';
  const isNew = conversation.id === undefined;
  conversation.node = node;
  const ms = await send(worker.clients[node] as StreamClient, conversation, liveKey);
  if (!isNew) samples[kind].push(ms);
  if (gapMs > 0) await pause(gapMs);
}

async function work(workers: readonly Worker[], liveKey: string, messages: number, gapMs: number): Promise<Samples> {
  const samples: Samples = { stayed: [], moved: [] };
  let left = messages;
  await Promise.all(
    workers.map(async (worker) => {
      while (left-- > 0) await step(worker, liveKey, samples, gapMs);
    }),
  );
  return samples;
}

/** Each row says that the node owns the conversation to which its last message went. @throws Error when one does not. */
function checkOwners(cell: Cell, organisationId: string, workers: readonly Worker[]): void {
  const db = openReader(dataLayout(cell.dataDir).organisation(organisationId));
  try {
    for (const { id, node } of workers.flatMap(({ conversations }) => conversations)) {
      const owner = id === undefined ? '' : readConversation(db, id)?.owner;
      if (id !== undefined && owner?.startsWith(`${'ab'[node]}~`) !== true)
        throw new Error(`${id} is owned by ${owner}, not by ${'ab'[node]}`);
    }
  } finally {
    db.close();
  }
}

async function measureLoad(cell: Cell, liveKey: string, organisationId: string, load: (typeof LOADS)[number], scene: QuestionScene) {
  const { atATime, gapMs } = load;
  const messages = scene.quick ? Math.ceil(load.messages / QUICK_DIVISOR) : load.messages;
  const workers = startWorkers(cell, atATime);
  const rounds: Samples[] = [];
  try {
    await work(workers, liveKey, atATime * CONVERSATIONS_EACH * (scene.quick ? 2 : WARM_UP_VISITS), 0);
    for (let round = 0; round < scene.rounds; round++) rounds.push(await work(workers, liveKey, messages, gapMs));
    checkOwners(cell, organisationId, workers);
  } finally {
    for (const { clients } of workers) for (const client of clients) client.close();
  }
  return { atATime, messages, rounds };
}

type Load = Awaited<ReturnType<typeof measureLoad>>;
type Row = Load & { readonly kind: Kind };

function startMs({ rounds }: Load, kind: Kind, share: number): number[] {
  return rounds.map((round) => percentile(round[kind], share));
}

function addedMs(load: Load, share: number): number {
  return median(startMs(load, 'moved', share)) - median(startMs(load, 'stayed', share));
}

const COLUMNS: readonly Column<Row>[] = [
  ['messages at a time', ({ atATime }) => `${atATime}`],
  ['message', ({ kind }) => (kind === 'stayed' ? 'to the node that has the conversation' : 'to the other node')],
  ['a round', ({ kind, rounds }) => `${Math.round(median(rounds.map((round) => round[kind].length)))}`],
  ...spread<Row>('turn.start p50 ms', (row) => startMs(row, row.kind, 0.5)),
  ...spread<Row>('p99 ms', (row) => startMs(row, row.kind, 0.99), 'range of p99'),
  ['slowest ms', (row) => digits(Math.max(...startMs(row, row.kind, 1)))],
  ['added p50 / p99 ms', (row) => (row.kind === 'stayed' ? '' : `${digits(addedMs(row, 0.5))} / ${digits(addedMs(row, 0.99))}`)],
];

/** A message to the other node is to take no more than this longer, at p50. */
const AIM_MS = 5;

function measureHandOver(scene: QuestionScene): Promise<Finding> {
  return withTwoNodes(scene.outDir, 'hand-over', 'fake-1-0', async (cell, { liveKey, organisationId }) => {
    const found: Load[] = [];
    for (const load of LOADS) {
      scene.onStep(`H1: hand-over, ${load.atATime} at a time`);
      found.push(await measureLoad(cell, liveKey, organisationId, load, scene));
    }
    const told = (values: readonly number[]) => [0.5, 0.99, 1].map((share) => percentile(values, share));
    return {
      tables: [
        tableOf(
          COLUMNS,
          found.flatMap((load) => (['stayed', 'moved'] as const).map((kind) => ({ ...load, kind }))),
          'Hand-over',
        ),
      ],
      warnings: found.flatMap((load) => missedBy(`Hand-over, ${load.atATime} at a time, adds at p50`, addedMs(load, 0.5), AIM_MS, 'ms')),
      data: found.map(({ atATime, messages, rounds }) => ({
        at_a_time: atATime,
        messages,
        rounds: rounds.map(({ stayed, moved }) => ({ stayed_ms: told(stayed), moved_ms: told(moved) })),
      })),
    };
  });
}

export const betweenNodes: Question = {
  name: 'H1',
  what: 'hand-over and forwarding between two nodes',
  expectedSeconds: ({ quick, rounds }) => (quick ? 40 : 60 + 60 * rounds),
  async measure(scene) {
    const [handOver, forwarding] = [await measureHandOver(scene), await measureForwarding(scene)];
    return {
      tables: [...handOver.tables, ...forwarding.tables],
      warnings: [...(handOver.warnings ?? []), ...(forwarding.warnings ?? [])],
      data: { hand_over: handOver.data, forwarding: forwarding.data },
    };
  },
};
