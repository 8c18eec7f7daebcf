/**
 * What more cores would give, on paper: the demands that a run measured, each divided into what a host has of it (the bottleneck law). Owns
 * the assumptions. docs/scaling.md shows its tables, made of the latest kept result.
 */

import type { Report } from './report-data.ts';
import { markdownOf, median, sum, type Table, whole } from './table.ts';

/** The turns that are assumed: 200 deltas, at 20 a second or at one. */
const DELTAS = 200;
/** No core, link or Redis is used for more than this: beyond it waiting grows faster than work. */
const USED = 0.7;
/** The share of a large host's cores with a node each; the others have Redis, the kernel's network and side threads. */
const NODES_SHARE = 7 / 8;
/** The writer thread's time for a turn (docs/performance.md), in which nobody else writes to the file. */
const WRITER_US = 240;
/** A link of 10 Gbit a second, and the ports towards one address of the model's server. */
const LINK_BYTES = 1.25e9;
const PORTS = 64_000;
const CORES = [1, 2, 16, 64] as const;
const MILLION = 1_000_000;

type Demands = NonNullable<ReturnType<typeof demandsOf>>;

function cell({ findings }: Report, question: string, table: number, row: string, column: string): number {
  const found = findings.find(({ name }) => name === question)?.tables[table];
  return Number(found?.rows.find(([name]) => name === row)?.[found.columns.indexOf(column)] ?? Number.NaN);
}

/** What a turn and a delta take, in µs and bytes; undefined where the run has not measured all of it. */
export function demandsOf(report: Report) {
  const ours = ({ candidate }: { readonly candidate: string }): boolean => candidate === 'service-all';
  const cpu = (workload: string): number => report.summaries.find((each) => each.workload === workload && ours(each))?.cpu_us ?? Number.NaN;
  const everyday = report.outcomes.find((each) => each.workload.name === 'W2' && ours(each));
  const nodes = (column: string, row: string): number => cell(report, 'WN', 0, row, column);
  const slope = (column: string): number => (nodes(column, '4') - nodes(column, '1')) / 3;
  const turnUs = cpu('W3');
  const demands = {
    turnUs,
    // A delta of W2 holds a hundredth of its turn.
    deltaUs: cpu('W2') - turnUs / (everyday?.workload.tokens ?? Number.NaN),
    slowDeltaUs: cell(report, 'W6', 0, 'service-all', 'CPU µs a delta'),
    streamKb: cell(report, 'W6', 0, 'service-all', 'KB a stream'),
    nodeMb: (everyday?.idle_rss_bytes ?? Number.NaN) / 1e6,
    deltaBytes: median((everyday?.rounds ?? []).map(({ bytes, ok, broken }) => bytes / ((ok + broken) * (everyday?.workload.tokens ?? 1)))),
    /** One node more: CPU of all nodes for a turn, as WN finds it where all share one core and one file, and of Redis. */
    nodeMoreUs: Math.max(0, slope('CPU µs a turn')),
    redisUs: nodes('Redis µs', '1'),
    redisMoreUs: slope('Redis µs'),
  };
  return sum(Object.values(demands)) > 0 ? demands : undefined;
}

/** Turns a second that each part of a host bears, of 200 deltas at 20 a second. `shared`: whether all nodes write to one file, as in WN. */
export function boundsOf(demands: Demands, nodes: number, shared: boolean) {
  const { turnUs, deltaUs, deltaBytes, nodeMoreUs, redisUs, redisMoreUs } = demands;
  const cpuUs = turnUs + DELTAS * deltaUs + (shared ? (nodes - 1) * nodeMoreUs : 0);
  const redis = redisUs + (nodes - 1) * redisMoreUs;
  return [
    ['cores', (nodes * USED * 1e6) / cpuUs],
    ['Redis', nodes === 1 ? Number.POSITIVE_INFINITY : (USED * 1e6) / redis],
    ['the link', (USED * LINK_BYTES) / (DELTAS * deltaBytes)],
    ['ports', PORTS / (DELTAS / 20)],
    ...(shared ? [['the writer of the file', (USED * 1e6) / WRITER_US] as const] : []),
  ] as const;
}

export function coresTable(demands: Demands): Table {
  const rows = CORES.map((cores) => {
    const nodes = cores <= 2 ? cores : cores * NODES_SHARE;
    const [apart, shared] = [false, true].map((each) => boundsOf(demands, nodes, each).toSorted((one, other) => one[1] - other[1]));
    const said = (bounds = apart): string[] => [
      whole(bounds?.[0]?.[1] ?? Number.NaN),
      whole((bounds?.[0]?.[1] ?? Number.NaN) * (DELTAS / 20)),
      `${bounds?.[0]?.[0]}, then ${bounds?.[1]?.[0]} (${whole(bounds?.[1]?.[1] ?? Number.NaN)})`,
    ];
    return [`${cores}`, `${nodes}`, ...said(apart), ...said(shared)];
  });
  const kinds = ['an organisation to a node', 'all in one file'];
  const columns = kinds.flatMap((kind) => [`${kind}: turns a second`, 'open streams', 'breaks first']);
  return { columns: ['cores', 'nodes', ...columns], rows };
}

/** A million open streams, at a delta a second and at 20. */
export function millionTable(demands: Demands): Table {
  const { turnUs, deltaUs, slowDeltaUs, streamKb, nodeMb, deltaBytes, redisUs, redisMoreUs } = demands;
  const kinds = [1, 20].map((rate) => {
    const turns = (MILLION * rate) / DELTAS;
    const streamUs = rate * (rate === 1 ? slowDeltaUs : deltaUs) + (turnUs * rate) / DELTAS;
    const onCore = (USED * 1e6) / streamUs;
    const hosts = Math.max(MILLION / PORTS, MILLION / onCore / (64 * NODES_SHARE));
    const nodes = MILLION / onCore / hosts;
    return [
      `${DELTAS / rate} s`,
      `${whole(streamUs)} µs`,
      whole(onCore),
      whole(MILLION / onCore),
      `${((MILLION * streamKb) / 1e6).toFixed(0)} GB, ${streamKb} KB each`,
      `${whole(nodeMb + (onCore * streamKb) / 1e3)} MB`,
      whole(turns),
      `${((MILLION * rate * deltaBytes * 8) / 1e9).toFixed(1)} Gbit/s`,
      `${Math.ceil(hosts)}, with ${Math.ceil(nodes)} nodes each`,
      whole(MILLION / Math.ceil(hosts)),
      ((turns * (redisUs + Math.max(0, nodes - 1) * redisMoreUs)) / 1e6).toFixed(1),
    ];
  });
  const names = [
    'an answer takes',
    'CPU of a stream, each second: deltas, and its share of a turn',
    'streams on a core',
    'cores for a million',
    'memory of the streams',
    'memory of a node',
    'turns a second, all together',
    'text to clients',
    'hosts of 64 cores, by CPU and by ports',
    'streams of a host',
    'cores of Redis, of the one that each has',
  ];
  return {
    columns: ['', 'a delta a second', '20 deltas a second'],
    rows: names.map((name, row) => [name, ...kinds.map((kind) => kind[row] ?? '')]),
  };
}

/** Both tables with what they were reckoned from; undefined where the run has not measured W2, W3, W6 and WN. */
export function coresFigures(report: Report): string | undefined {
  const demands = demandsOf(report);
  if (demands === undefined) return undefined;
  const { turnUs, deltaUs, slowDeltaUs, redisUs, redisMoreUs, nodeMoreUs, deltaBytes } = demands;
  const parts = `A turn ${whole(turnUs)} µs (W3), a delta ${deltaUs.toFixed(1)} µs at 20 a second (W2) and ${slowDeltaUs.toFixed(1)} at one (W6), ${whole(deltaBytes)} bytes of it; Redis ${redisUs.toFixed(1)} µs a turn and ${redisMoreUs.toFixed(1)} more with each further node; in one file ${whole(nodeMoreUs)} µs a turn more with each (WN).`;
  return [
    `Measured ${report.began.slice(0, 10)}: ${parts}`,
    markdownOf(coresTable(demands)),
    '**A million open streams**',
    markdownOf(millionTable(demands)),
  ].join('\n\n');
}
