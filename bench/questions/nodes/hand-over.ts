/**
 * The first half of H1: what it takes to answer in a conversation that is idle on another node. Each conversation goes from node to node
 * and back, every other message staying where the one before was: both kinds are measured in turns on both nodes.
 */
import { randomUUID } from 'node:crypto';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { mintDevice, StreamClient, turnRequest } from '../../load/stream-client.ts';
import { type Model, withModel } from '../../model/model.ts';
import type { QuestionScene } from '../../question.ts';
import { digits, median, percentile, range, type Table } from '../../report/table.ts';
import { type Cell, startCell } from '../../servers/cell.ts';
import { CLIENT_CORE, pause, SERVER_CORE } from '../../servers/processes.ts';
import { createLiveApp, modelEnv } from '../../servers/service.ts';
import { missedBy } from '../../workloads/aims.ts';

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
  /** Where its last message went. */
  node: number;
  visits: number;
}

interface Worker {
  /** A connection to each node. */
  readonly clients: readonly StreamClient[];
  readonly conversations: readonly Conversation[];
  next: number;
}

type Samples = Record<Kind, number[]>;

export interface HandOver {
  readonly table: Table;
  readonly warnings: readonly string[];
  readonly data: unknown;
}

function startWorkers(cell: Cell, atATime: number): Worker[] {
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

const COLUMNS = [
  'messages at a time',
  'message',
  'a round',
  'turn.start p50 ms',
  'range',
  'p99 ms',
  'range of p99',
  'slowest ms',
  'added p50 / p99 ms',
];

function rowsOf({ atATime, rounds }: Awaited<ReturnType<typeof measureLoad>>): string[][] {
  const at = (kind: Kind, share: number): number[] => rounds.map((round) => percentile(round[kind], share));
  const added = (share: number): string => digits(median(at('moved', share)) - median(at('stayed', share)));
  return (['stayed', 'moved'] as const).map((kind) => [
    `${atATime}`,
    kind === 'stayed' ? 'to the node that has the conversation' : 'to the other node',
    `${Math.round(median(rounds.map((round) => round[kind].length)))}`,
    digits(median(at(kind, 0.5))),
    range(at(kind, 0.5)),
    digits(median(at(kind, 0.99))),
    range(at(kind, 0.99)),
    digits(Math.max(...at(kind, 1))),
    kind === 'stayed' ? '' : `${added(0.5)} / ${added(0.99)}`,
  ]);
}

/** A message to the other node is to take no more than this longer, at p50. */
const AIM_MS = 5;

function warningsOf({ atATime, rounds }: Awaited<ReturnType<typeof measureLoad>>): string[] {
  const p50 = (kind: Kind): number => median(rounds.map((round) => percentile(round[kind], 0.5)));
  return missedBy(`Hand-over, ${atATime} at a time, adds at p50`, p50('moved') - p50('stayed'), AIM_MS, 'ms');
}

async function play(model: Model, scene: QuestionScene): Promise<HandOver> {
  const env = modelEnv({ model: 'fake-1-0', upstream: model.origin });
  // Each node as it would be on a machine of more cores: the other one does not have to leave its core first.
  const cell = await startCell({ outDir: scene.outDir, name: 'hand-over', cores: [SERVER_CORE, CLIENT_CORE], env });
  try {
    const { liveKey, organisationId } = await createLiveApp(cell.operator);
    const found = [];
    for (const load of LOADS) {
      scene.onStep(`H1: hand-over, ${load.atATime} at a time`);
      found.push(await measureLoad(cell, liveKey, organisationId, load, scene));
    }
    const data = found.map(({ atATime, messages, rounds }) => ({
      at_a_time: atATime,
      messages,
      rounds: rounds.map(({ stayed, moved }) => ({
        stayed_ms: [0.5, 0.99, 1].map((share) => percentile(stayed, share)),
        moved_ms: [0.5, 0.99, 1].map((share) => percentile(moved, share)),
      })),
    }));
    return { table: { title: 'Hand-over', columns: COLUMNS, rows: found.flatMap(rowsOf) }, warnings: found.flatMap(warningsOf), data };
  } finally {
    await cell.stop();
  }
}

/** Latency of messages to the node that has the conversation and to the other one, side by side. */
export function measureHandOver(scene: QuestionScene): Promise<HandOver> {
  return withModel(scene.outDir, (model) => play(model, scene));
}
