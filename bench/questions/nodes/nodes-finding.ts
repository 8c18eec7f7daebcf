/** What WN says of its rounds: a table and a curve for each load, and what grows too much. Pure. */

import { at, type LoadResult } from '../../load/load.ts';
import type { Finding } from '../../question.ts';
import { digits, median, range, sum } from '../../report/table.ts';
import type { Workload } from '../../workloads/workloads.ts';
import { curveOf, type Growth, growthWarnings, pointOf } from '../growth/growth.ts';

/** One round of one site. */
export interface NodesRound {
  /** One of each node's load client. */
  readonly results: readonly LoadResult[];
  /** CPU time of all nodes together. */
  readonly nodes_ns: number;
  /** 0 without Redis. */
  readonly redis_ns: number;
  /** Memory of all nodes together, after the round. */
  readonly rss_bytes: number;
}

/** The rounds of one site with one load. */
export interface NodesCost {
  readonly kind: Workload;
  /** How many a cell with Redis has; null: the program alone. */
  readonly nodes: number | null;
  readonly rounds: readonly NodesRound[];
}

/** Turns or deltas of streams that were whole. */
function unitsOf({ unit, tokens }: Workload, { results }: NodesRound): number {
  return sum(results.map(({ ok }) => ok)) * (unit === 'delta' ? tokens : 1);
}

function cpuUs({ kind, rounds }: NodesCost): number[] {
  return rounds.map((round) => round.nodes_ns / 1e3 / unitsOf(kind, round));
}

function brokenOf({ rounds }: NodesCost): number {
  return sum(rounds.flatMap(({ results }) => results.map(({ broken }) => broken)));
}

function columnsOf({ unit }: Workload): string[] {
  const first = ['first delta p50 ms', 'p99 ms'];
  return ['nodes', `CPU µs a ${unit}`, 'range', 'Redis µs', 'core busy', ...first, 'tokens an event', 'RSS MB', 'broken'];
}

function rowOf(cost: NodesCost): string[] {
  const { kind, nodes, rounds } = cost;
  const of = (value: (round: NodesRound) => number): number => median(rounds.map(value));
  const worst = (share: 0.5 | 0.99): string => digits(of(({ results }) => Math.max(...results.map(({ first_ms }) => at(first_ms, share)))));
  const busy = of(({ nodes_ns, results }) => nodes_ns / 1e9 / Math.max(...results.map(({ wall_s }) => wall_s)));
  const tokens = of(({ results }) => (sum(results.map(({ ok }) => ok)) * kind.tokens) / sum(results.map(({ deltas }) => deltas)));
  return [
    nodes === null ? 'the program alone' : String(nodes),
    digits(median(cpuUs(cost))),
    range(cpuUs(cost)),
    nodes === null ? '' : digits(of((round) => round.redis_ns / 1e3 / unitsOf(kind, round))),
    `${Math.round(busy * 100)} %`,
    worst(0.5),
    worst(0.99),
    tokens.toFixed(1),
    digits(of(({ rss_bytes }) => rss_bytes) / 1e6),
    String(brokenOf(cost)),
  ];
}

/** The program alone has no place on the curve: it has no cell to grow. */
function growthOf(kind: Workload, costs: readonly NodesCost[]): Growth {
  const points = costs.flatMap((cost) => (cost.nodes === null ? [] : [pointOf(cost.nodes, cpuUs(cost))]));
  return { cost: `CPU time of a ${kind.unit} in all nodes`, unit: 'µs', of: 'nodes of a cell', points };
}

function brokenWarnings(cost: NodesCost): string[] {
  const broken = brokenOf(cost);
  if (broken === 0) return [];
  const site = cost.nodes === null ? 'On the program alone' : `With ${cost.nodes} nodes of a cell`;
  return [`${site}, ${broken.toLocaleString('en-US')} streams were not whole (${cost.kind.what}).`];
}

/** The section of these costs. */
export function findingOf(costs: readonly NodesCost[]): Finding {
  const kinds = [...new Set(costs.map(({ kind }) => kind))];
  const byKind = kinds.map((kind) => ({ kind, own: costs.filter((cost) => cost.kind === kind) }));
  const growths = byKind.map(({ kind, own }) => growthOf(kind, own));
  return {
    tables: byKind.map(({ kind, own }) => ({ title: kind.what, columns: columnsOf(kind), rows: own.map(rowOf) })),
    curves: growths.map(curveOf),
    warnings: [...growths.flatMap(growthWarnings), ...costs.flatMap(brokenWarnings)],
    data: costs,
  };
}
