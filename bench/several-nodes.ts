/**
 * WN: what a second node on the second core gives. The same load on the program alone, on one node of a cell, and spread over two, every
 * request to the node that its conversation stays with.
 */

import type { Target } from './candidate.ts';
import { type Cell, startCell } from './cell.ts';
import { cpuNs } from './cpu.ts';
import { at, compileLoad, type LoadResult, load } from './load.ts';
import { type Model, withModel } from './model.ts';
import { CLIENT_CORE, pause, SERVER_CORE } from './processes.ts';
import type { Question, QuestionScene } from './question.ts';
import { digits, median, sum } from './report.ts';
import { type Console, createLiveApp, modelEnv, type Server, startServer, targetOf } from './service.ts';
import { type Workload, workloadNamed } from './workloads.ts';

const SETTLE_MS = 200;
const QUICK_DIVISOR = 4;

interface Arrangement {
  readonly label: string;
  /** A node on each; null: the program alone, without Redis. */
  readonly cores: readonly number[] | null;
  /** Otherwise all nodes write to one organization's file. */
  readonly organisationEach: boolean;
}

const ALONE: Arrangement = { label: 'the program alone', cores: null, organisationEach: false };
const ONE: Arrangement = { label: 'a cell of one node', cores: [SERVER_CORE], organisationEach: false };
const TWO: Arrangement = { label: 'two nodes', cores: [SERVER_CORE, CLIENT_CORE], organisationEach: false };
const TWO_APART: Arrangement = { ...TWO, label: 'two nodes, an organization each', organisationEach: true };

const PACED: Workload = { ...workloadNamed('W2'), what: '100 deltas at 20 ms' };
const CROWDED: Workload = { ...workloadNamed('W5'), what: PACED.what };
const SHORT: Workload = { ...workloadNamed('W3'), what: '1-token turns' };

/** `streams` and `requests` are those of all nodes together. */
const SCENES: readonly { readonly kind: Workload; readonly arrangements: readonly Arrangement[] }[] = [
  { kind: PACED, arrangements: [ALONE, ONE, TWO] },
  { kind: CROWDED, arrangements: [ALONE, ONE, TWO] },
  { kind: SHORT, arrangements: [ALONE, ONE, TWO, TWO_APART] },
];

/** Processes that run, and what the load clients ask. */
interface Site {
  readonly arrangement: Arrangement;
  /** One for each node. */
  readonly targets: readonly Target[];
  readonly cell: Cell | null;
  stop(): Promise<void>;
}

async function targetsOf(
  servers: readonly Server[],
  operator: Console,
  { organisationEach }: Arrangement,
  name: string,
): Promise<Target[]> {
  const targets: Target[] = [];
  let key: string | undefined;
  for (const [at, server] of servers.entries()) {
    if (key === undefined || organisationEach) key = (await createLiveApp(operator)).liveKey;
    targets.push(targetOf(server, key, `${name}-${at}`));
  }
  return targets;
}

async function startSite(arrangement: Arrangement, at: number, kind: Workload, model: Model, outDir: string): Promise<Site> {
  const env = modelEnv({ model: kind.model, upstream: model.origin });
  const name = `site-${at}`;
  if (arrangement.cores === null) {
    const server = await startServer(outDir, env, name);
    return { arrangement, targets: await targetsOf([server], server.operator, arrangement, name), cell: null, stop: server.stop };
  }
  const cell = await startCell({ outDir, name, cores: arrangement.cores, env });
  return { arrangement, targets: await targetsOf(cell.nodes, cell.operator, arrangement, name), cell, stop: cell.stop };
}

interface Round {
  readonly results: readonly LoadResult[];
  /** CPU time of each node, and of Redis. */
  readonly nodeNs: readonly number[];
  readonly redisNs: number;
}

/** The load, split among the nodes, by a load client for each. */
async function loadAll(program: string, outDir: string, kind: Workload, { targets }: Site, requests: number): Promise<LoadResult[]> {
  const share = { ...kind, streams: Math.ceil(kind.streams / targets.length) };
  const each = Math.ceil(requests / targets.length);
  return Promise.all(targets.map((target) => load(program, outDir, share, target, { requests: each })));
}

async function measureRound(program: string, outDir: string, kind: Workload, site: Site, requests: number): Promise<Round> {
  const { targets, cell } = site;
  const nodes = (): number[] => targets.map(({ process }) => cpuNs(process.pid));
  const redis = (): number => (cell === null ? 0 : cpuNs(cell.redis.process.pid));
  const [nodesBefore, redisBefore] = [nodes(), redis()];
  const results = await loadAll(program, outDir, kind, site, requests);
  await pause(SETTLE_MS);
  for (const { process } of targets) process.check();
  return { results, nodeNs: nodes().map((ns, at) => ns - (nodesBefore[at] ?? 0)), redisNs: redis() - redisBefore };
}

interface Found {
  readonly kind: Workload;
  readonly arrangement: Arrangement;
  readonly rounds: readonly Round[];
}

async function playScene({ kind, arrangements }: (typeof SCENES)[number], program: string, model: Model, scene: QuestionScene) {
  const { outDir, quick, rounds, onStep } = scene;
  const requests = Math.max(kind.streams, quick ? kind.requests / QUICK_DIVISOR : kind.requests);
  const sites: (Site & { readonly rounds: Round[] })[] = [];
  try {
    for (const [at, arrangement] of arrangements.entries()) {
      sites.push({ ...(await startSite(arrangement, at, kind, model, outDir)), rounds: [] });
    }
    for (const site of sites)
      await loadAll(program, outDir, kind, site, Math.max(kind.streams, quick ? kind.warmUp / QUICK_DIVISOR : kind.warmUp));
    for (let round = 0; round < rounds; round++) {
      onStep(`WN: ${kind.streams} streams, ${kind.what}: round ${round + 1} of ${rounds}`);
      // Every other round the other way round: whoever follows finds the same machine.
      for (const site of round % 2 === 0 ? sites : sites.toReversed()) {
        site.rounds.push(await measureRound(program, outDir, kind, site, requests));
      }
    }
    return sites.map(({ arrangement, rounds: measured }): Found => ({ kind, arrangement, rounds: measured }));
  } finally {
    for (const site of sites) await site.stop();
  }
}

const COLUMNS = [
  'load',
  'served by',
  'per s',
  'range',
  'CPU µs',
  'Redis µs',
  'per',
  'busy',
  'first delta p50 ms',
  'p99 ms',
  'tokens an event',
  'broken',
];

function rowOf({ kind, arrangement, rounds }: Found): string[] {
  const units = ({ results }: Round): number => sum(results.map(({ ok }) => ok)) * (kind.unit === 'delta' ? kind.tokens : 1);
  const wallS = ({ results }: Round): number => Math.max(...results.map(({ wall_s }) => wall_s));
  const perS = rounds.map((round) => units(round) / wallS(round));
  const shown = (value: number): string => Math.round(value).toLocaleString('en-US');
  const nodes = (rounds[0]?.nodeNs ?? []).map((_, at) => median(rounds.map((round) => (round.nodeNs[at] ?? 0) / 1e9 / wallS(round))));
  const worst = (of: (result: LoadResult) => number): string => digits(median(rounds.map(({ results }) => Math.max(...results.map(of)))));
  return [
    `${kind.streams} streams, ${kind.what}`,
    arrangement.label,
    shown(median(perS)),
    `${shown(Math.min(...perS))} to ${shown(Math.max(...perS))}`,
    digits(median(rounds.map((round) => sum(round.nodeNs) / 1e3 / units(round)))),
    arrangement.cores === null ? '' : digits(median(rounds.map((round) => round.redisNs / 1e3 / units(round)))),
    kind.unit,
    nodes.map((share) => `${Math.round(share * 100)} %`).join(' + '),
    worst(({ first_ms }) => at(first_ms, 0.5)),
    worst(({ first_ms }) => at(first_ms, 0.99)),
    median(
      rounds.map(({ results }) => (sum(results.map(({ ok }) => ok)) * kind.tokens) / sum(results.map(({ deltas }) => deltas))),
    ).toFixed(1),
    `${sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)))}`,
  ];
}

export const severalNodes: Question = {
  name: 'WN',
  what: 'the same load on one node and on two',
  expectedSeconds: ({ quick, rounds }) => (quick ? 60 : 60 + 90 * rounds),
  async measure(scene) {
    const program = compileLoad(scene.outDir);
    return withModel(scene.outDir, async (model) => {
      const found: Found[] = [];
      for (const each of SCENES) found.push(...(await playScene(each, program, model, scene)));
      return { tables: [{ columns: COLUMNS, rows: found.map(rowOf) }], data: found };
    });
  },
};
