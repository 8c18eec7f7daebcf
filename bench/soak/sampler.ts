/** What a soak measures: each process by /proc and its metrics, the data directory, Redis. The table says what has to stay flat. */
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { turnsIn } from '../drill/judge.ts';
import { readIfThere } from '../meters/cpu.ts';
import type { Bound, Point } from './judge.ts';
import type { World } from './world.ts';

/** Before that, memory says how much was compiled and kept so far. */
export const MEMORY_FROM_MINUTES = 20;
const MB = 1e6;
/** A log is emptied from 32 MiB on, and may be written meanwhile: it is no leak below, however it comes there. */
const LOG_MB = 48;
const memory = (take: Bound['take'], floor: number): Bound => ({ take, share: 0.1, floor, fromMinutes: MEMORY_FROM_MINUTES });
const counted = (floor: number): Bound => ({ take: 'least', share: 0.05, floor });

/** `plot`: series of one plot have it in common. Without a bound a series is drawn and not judged. */
export interface Measure {
  readonly name: string;
  readonly plot: string;
  readonly unit: string;
  readonly bound?: Bound;
}

/** The node that no one ends is told of most: a leak shows in who lives long. Floors are what load and chance make of it in a minute. */
export const MEASURES = {
  nodeMb: { name: 'node', plot: 'Resident memory', unit: 'MB', bound: memory('middle', 25) },
  otherMb: { name: 'second cell', plot: 'Resident memory', unit: 'MB' },
  supervisorMb: { name: 'supervisor', plot: 'Resident memory', unit: 'MB', bound: memory('middle', 8) },
  heapMb: { name: 'heap', plot: 'What JavaScript holds in the node', unit: 'MB', bound: memory('least', 8) },
  externalMb: { name: 'beside the heap', plot: 'What JavaScript holds in the node', unit: 'MB', bound: memory('least', 8) },
  nodeFds: { name: 'node', plot: 'Descriptors', unit: 'open', bound: counted(24) },
  supervisorFds: { name: 'supervisor', plot: 'Descriptors', unit: 'open', bound: counted(3) },
  otherFds: { name: 'second cell', plot: 'Descriptors', unit: 'open' },
  threads: { name: 'node', plot: 'Threads', unit: 'of it', bound: counted(2) },
  timers: { name: 'timers', plot: 'Timers and what else is active in the node', unit: 'active', bound: counted(8) },
  active: { name: 'all that keeps a loop alive', plot: 'Timers and what else is active in the node', unit: 'active', bound: counted(12) },
  actors: { name: 'busy conversations', plot: 'Actors and streams of the node', unit: 'at a time', bound: counted(8) },
  readers: { name: 'readers of turns', plot: 'Actors and streams of the node', unit: 'at a time', bound: counted(8) },
  streams: { name: 'open streams', plot: 'Actors and streams of the node', unit: 'at a time', bound: counted(8) },
  series: { name: 'series', plot: 'Series in GET /metrics', unit: 'lines', bound: { take: 'middle', share: 0.05, floor: 60 } },
  walMb: { name: 'the longest', plot: 'Write-ahead logs', unit: 'MB', bound: { take: 'middle', share: 0.1, floor: LOG_MB, most: LOG_MB } },
  turnKb: { name: 'file of an organisation', plot: 'Bytes a stored turn', unit: 'KB', bound: { take: 'middle', share: 0.1, floor: 4 } },
  files: { name: 'files that are no uploads', plot: 'Files and sockets of the data directory', unit: 'there', bound: counted(20) },
  redisKeys: { name: 'keys', plot: 'Keys in Redis but names', unit: 'there', bound: counted(10) },
  redisMb: { name: 'Redis', plot: 'Memory of Redis', unit: 'MB', bound: memory('least', 2) },
} as const satisfies Readonly<Record<string, Measure>>;
export type MeasureId = keyof typeof MEASURES;
export type Samples = Record<MeasureId, Point[]>;

const status = (pid: number | undefined, field: string) =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readIfThere(`/proc/${pid}/status`) ?? '')?.[1] ?? Number.NaN);
const residentMb = (pid: number | undefined) => (status(pid, 'VmRSS') * 1024) / MB;

function descriptors(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}

function inDirectory(dir: string) {
  const found = { files: 0, walMb: 0 };
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || entry.parentPath.includes('/uploads')) continue;
    found.files += 1;
    if (!entry.name.endsWith('-wal')) continue;
    const { size = 0 } = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false }) ?? {};
    found.walMb = Math.max(found.walMb, size / MB);
  }
  return found;
}

/** Names of keys, tokens and codes are as many as there are rows of them (CELL-19); all others must not grow. */
const COUNT = `return #redis.call('KEYS', '*') - #redis.call('KEYS', 'assistant:home:*')`;

/** What Redis holds, as it says it. */
async function askRedis(url: string): Promise<{ readonly keys: number; readonly mb: number }> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
  let said = '';
  socket.on('data', (bytes) => {
    said += bytes.toString();
  });
  socket.end(`INFO memory\r\nEVAL "${COUNT}" 0\r\nQUIT\r\n`);
  await once(socket, 'close');
  return { keys: Number(/^:(\d+)/m.exec(said)?.[1]), mb: Number(/^used_memory:(\d+)/m.exec(said)?.[1]) / MB };
}

async function metricsOf(baseUrl: string) {
  const lines = (await (await fetch(`${baseUrl}/metrics`)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const value = (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? 0);
  return { count: lines.length, value };
}

/** One sample of everything; what cannot be told in this moment is NaN. */
export async function takeSample({ site, node, workers, other, stays }: World): Promise<Record<MeasureId, number>> {
  const [{ count, value }, redis] = await Promise.all([metricsOf(node.baseUrl), askRedis(site.redisUrl)]);
  const { files, walMb } = inDirectory(node.dataDir);
  const turns = turnsIn(node.dataDir, stays.organisationId);
  const { size } = statSync(join(node.dataDir, 'organisations', `${stays.organisationId}.sqlite`));
  return {
    nodeMb: residentMb(node.pid),
    heapMb: value('nodejs_heap_size_used_bytes') / MB,
    externalMb: value('nodejs_external_memory_bytes') / MB,
    otherMb: residentMb(other.pid),
    supervisorMb: residentMb(workers.pid),
    nodeFds: descriptors(node.pid),
    supervisorFds: descriptors(workers.pid),
    otherFds: descriptors(other.pid),
    threads: status(node.pid, 'Threads'),
    timers: value('nodejs_active_resources{type="Timeout"}'),
    active: value('nodejs_active_resources_total'),
    actors: value('assistant_conversations_active'),
    readers: value('assistant_turn_readers'),
    streams: value('gateway_open_streams'),
    series: count,
    walMb,
    turnKb: turns === 0 ? Number.NaN : size / turns / 1e3,
    files,
    redisKeys: redis.keys,
    redisMb: redis.mb,
  };
}

export function emptySamples(): Samples {
  return Object.fromEntries(Object.keys(MEASURES).map((id) => [id, []])) as unknown as Samples;
}
