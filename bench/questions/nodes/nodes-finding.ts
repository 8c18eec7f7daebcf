/** What WN says of its rounds: a table and a curve for each load, and what grows too much. Pure. */

import { at, type LoadResult } from '../../load/load.ts';
import type { Finding } from '../../question.ts';
import { type Column, digits, median, spread, sum, tableOf } from '../../report/table.ts';
import { brokenAmong } from '../../workloads/aims.ts';
import type { Workload } from '../../workloads/workloads.ts';
import { curveOf, type Growth, growthWarnings, pointOf } from '../growth/growth.ts';

export interface NodesRound {
  /** One of each node's load client. */
  readonly results: readonly LoadResult[];
  readonly nodes_ns: number;
  /** 0 without Redis. */
  readonly redis_ns: number;
  /** Memory of all nodes together, after the round. */
  readonly rss_bytes: number;
}

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
