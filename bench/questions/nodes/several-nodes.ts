/**
 * WN: what a turn and a delta cost as the nodes of a cell grow. The same load on the program alone and on cells of one, two and four
 * nodes, which share one core: their cost is what two cores can show of them. It owns the sites, their rounds and their order.
 */
import { at, compileLoad, type LoadClient, type LoadResult, load } from '../../load/load.ts';
import { rssBytes, spending } from '../../meters/cpu.ts';
import { type Model, withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, spread, sum, tableOf } from '../../report/table.ts';
import type { Target } from '../../servers/candidate.ts';
import { type Cell, startCell } from '../../servers/cell.ts';
import { SERVER_CORE } from '../../servers/processes.ts';
import { createLiveApp, modelEnv, startServer, targetOf } from '../../servers/service.ts';
import { brokenAmong } from '../../workloads/aims.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import { warmUntilStill } from '../../workloads/warm-up.ts';
import { type Workload, workloadNamed } from '../../workloads/workloads.ts';
import { curveOf, type Growth, growthWarnings, pointOf } from '../growth/growth.ts';

type NodesRound = Awaited<ReturnType<typeof measureRound>>;

export interface NodesCost {
  readonly kind: Workload;
  /** How many a cell with Redis has; null: the program alone. */
  readonly nodes: number | null;
  readonly rounds: readonly NodesRound[];
}

function unitsOf({ unit, tokens }: Workload, { results }: NodesRound): number {
  return sum(results.map(({ ok }) => ok)) * (unit === 'delta' ? tokens : 1);
}

function cpuUs({ kind, rounds }: NodesCost): number[] {
  return rounds.map((round) => round.nodes_ns / 1e3 / unitsOf(kind, round));
}

function brokenOf({ rounds }: NodesCost): number {
  return sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)));
}

function columnsOf({ unit }: Workload): readonly Column<NodesCost>[] {
  const figure = (value: (round: NodesRound, kind: Workload) => number) => (cost: NodesCost) =>
    median(cost.rounds.map((round) => value(round, cost.kind)));
  const worst = (share: 0.5 | 0.99) => figure(({ results }) => Math.max(...results.map(({ first_ms }) => at(first_ms, share))));
  const [p50, p99] = [worst(0.5), worst(0.99)];
  const redis = figure((round, kind) => round.redis_ns / 1e3 / unitsOf(kind, round));
  const busy = figure(({ nodes_ns, results }) => nodes_ns / 1e9 / Math.max(...results.map(({ wall_s }) => wall_s)));
  const okOf = ({ results }: NodesRound): number => sum(results.map(({ ok }) => ok));
  const tokens = figure((round, kind) => (okOf(round) * kind.tokens) / sum(round.results.map(({ deltas }) => deltas)));
  const rss = figure(({ rss_bytes }) => rss_bytes / 1e6);
  return [
    ['nodes', ({ nodes }) => (nodes === null ? 'the program alone' : String(nodes))],
    ...spread(`CPU µs a ${unit}`, cpuUs),
    ['Redis µs', (cost) => (cost.nodes === null ? '' : digits(redis(cost)))],
    ['core busy', (cost) => `${Math.round(busy(cost) * 100)} %`],
    ['first delta p50 ms', (cost) => digits(p50(cost))],
    ['p99 ms', (cost) => digits(p99(cost))],
    ['tokens an event', (cost) => tokens(cost).toFixed(1)],
    ['RSS MB', (cost) => digits(rss(cost))],
    ['broken', (cost) => String(brokenOf(cost))],
  ];
}

/** The program alone has no place on the curve: it has no cell to grow. */
function growthOf(kind: Workload, costs: readonly NodesCost[]): Growth {
  const points = costs.flatMap((cost) => (cost.nodes === null ? [] : [pointOf(cost.nodes, cpuUs(cost))]));
  return { cost: `CPU time of a ${kind.unit} in all nodes`, unit: 'µs', of: 'nodes of a cell', points };
}

function brokenWarnings(cost: NodesCost): string[] {
  const site = cost.nodes === null ? 'On the program alone' : `With ${cost.nodes} nodes of a cell`;
  return brokenAmong(`${site} (${cost.kind.what})`, brokenOf(cost));
}

export function findingOf(costs: readonly NodesCost[]): Finding {
  const kinds = [...new Set(costs.map(({ kind }) => kind))];
  const byKind = kinds.map((kind) => ({ kind, own: costs.filter((cost) => cost.kind === kind) }));
  const growths = byKind.map(({ kind, own }) => growthOf(kind, own));
  return {
    tables: byKind.map(({ kind, own }) => tableOf(columnsOf(kind), own, kind.what)),
    curves: growths.map(curveOf),
    warnings: [...growths.flatMap(growthWarnings), ...costs.flatMap(brokenWarnings)],
    data: costs,
  };
}

/** Nodes of a cell with Redis; null: the program alone, without one. */
const SITES = [null, 1, 2, 4] as const;
/** Far more than a load takes: a node that hangs must not hold the run up. */
const LOAD_MAX_S = 60;

/** The loads of W3 and W2 in shorter rounds; `streams` and `requests` are those of all nodes together. */
const TURNS: Workload = { ...workloadNamed('W3'), requests: 4_000 };
const DELTAS: Workload = { ...workloadNamed('W2'), requests: 1_000, rampMs: 1_000 };
const QUICK_KINDS: readonly Workload[] = [
  { ...TURNS, requests: 500 },
  { ...DELTAS, what: '100 deltas at 20 ms, 100 open streams', streams: 100, requests: 100 },
];

interface Site {
  readonly nodes: number | null;
  /** One for each node, all of one organisation, whose file they share. */
  readonly targets: readonly Target[];
  readonly redis: Cell['redis'] | null;
  stop(): Promise<void>;
}

async function startSite(nodes: number | null, kind: Workload, model: Model, outDir: string): Promise<Site> {
  const env = modelEnv({ model: kind.model, upstream: model.origin });
  const name = `site-${nodes ?? 'alone'}`;
  const started =
    nodes === null ? await startServer(outDir, env, name) : await startCell({ outDir, name, cores: Array(nodes).fill(SERVER_CORE), env });
  try {
    const { liveKey } = await createLiveApp(started.operator);
    const [servers, redis] = 'nodes' in started ? [started.nodes, started.redis] : [[started], null];
    return { nodes, redis, targets: servers.map((server, at) => targetOf(server, liveKey, `${name}-${at}`)), stop: started.stop };
  } catch (error) {
    await started.stop();
    throw error;
  }
}

/** So many turns, split among the nodes, by a load client for each. */
function loadAll({ program, outDir }: LoadClient, kind: Workload, { targets }: Site, requests: number): Promise<LoadResult[]> {
  const share = { ...kind, streams: Math.ceil(kind.streams / targets.length) };
  const extent = { requests: Math.ceil(requests / targets.length), seconds: LOAD_MAX_S };
  return Promise.all(targets.map((target) => load(program, outDir, share, target, extent)));
}

/** @throws Error when a node brought no whole turn: the cost of all would be that of the others */
async function measureRound(client: LoadClient, kind: Workload, site: Site) {
  const { targets, redis } = site;
  const processes = [...targets, ...(redis === null ? [] : [redis])].map(({ process }) => process);
  const { result: results, ns } = await spending(processes, () => loadAll(client, kind, site, kind.requests));
  const silent = results.find(({ ok }) => ok === 0);
  if (silent !== undefined) throw new Error(`a node brought no whole turn: ${silent.reasons[0] ?? 'nothing came'}`);
  const rss_bytes = sum(targets.map(({ process }) => rssBytes(process.pid)));
  return { results, nodes_ns: sum(ns.slice(0, targets.length)), redis_ns: sum(ns.slice(targets.length)), rss_bytes };
}

async function measureKind(
  kind: Workload,
  client: LoadClient,
  model: Model,
  { rounds, quick, onStep }: QuestionScene,
): Promise<NodesCost[]> {
  const sites: (Site & { readonly rounds: NodesRound[] })[] = [];
  try {
    onStep(`WN: ${kind.what}: warms up`);
    for (const nodes of SITES) sites.push({ ...(await startSite(nodes, kind, model, client.outDir)), rounds: [] });
    // All nodes of a site at a time, until none of them gets cheaper.
    const warm = quick ? { maxS: 0 } : {};
    for (const site of sites)
      await warmUntilStill(async () => median(cpuUs({ kind, ...site, rounds: [await measureRound(client, kind, site)] })), warm);
    for (let round = 0; round < rounds; round++) {
      onStep(`WN: ${kind.what}: round ${round + 1} of ${rounds}`);
      for (const site of inOrderOf(sites, round)) site.rounds.push(await measureRound(client, kind, site));
    }
    return sites.map(({ nodes, rounds: measured }) => ({ kind, nodes, rounds: measured }));
  } finally {
    for (const site of sites) await site.stop();
  }
}

export const severalNodes: Question = {
  name: 'WN',
  what: 'turns and deltas as the nodes of a cell grow',
  expectedSeconds: ({ quick, rounds }) => (quick ? 30 : 70 + 34 * rounds),
  async measure(scene) {
    const client = { program: compileLoad(scene.outDir), outDir: scene.outDir };
    return withModel(scene.outDir, async (model) => {
      const costs: NodesCost[] = [];
      for (const kind of scene.quick ? QUICK_KINDS : [TURNS, DELTAS]) costs.push(...(await measureKind(kind, client, model, scene)));
      return findingOf(costs);
    });
  },
};
