/** What traffic has hit, on a machine's table and on its picture: counts by cell, by edge and by row. */
import type { MachinePicture } from '../../../machines/picture.ts';

export interface CoveredCell {
  readonly machine: string;
  /** The innermost state before the event, and after it. */
  readonly state: string;
  readonly event: string;
  readonly to: string;
  readonly count: number;
}

/** Counts by what of a picture they are of; what was never hit is not there. */
export interface Hits {
  readonly edges: ReadonlyMap<string, number>;
  readonly rows: ReadonlyMap<string, number>;
  /** Where traffic was, those around it included. */
  readonly states: ReadonlySet<string>;
}

/** The key of an edge's labels for one event: guards with the same event and target are counted together. */
export const edgeKey = (from: string, event: string, to: string) => `${from} ${event} ${to}`;
export const rowKey = (state: string, event: string) => `${state} ${event}`;

/** Steps of the tint, from pale to accent, each for ten times as many. */
const TINTS_MAX = 4;

/** 1 for a few, up to 4; 0: never. */
export function tintOf(count: number): number {
  return count <= 0 ? 0 : Math.min(1 + Math.floor(Math.log10(count)), TINTS_MAX);
}

export function ownCells(machine: string, picture: MachinePicture, cells: readonly CoveredCell[]): readonly CoveredCell[] {
  const own = (state: string) => (picture.regions === undefined ? state : state.slice(state.indexOf('.') + 1));
  return cells.flatMap((cell) => (cell.machine === machine ? [{ ...cell, state: own(cell.state), to: own(cell.to) }] : []));
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

export function countsOf(cells: readonly CoveredCell[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state, event, count } of cells) add(counts, rowKey(state, event), count);
  return counts;
}

/** The state itself and those around it, the innermost first. */
function around(state: string): string[] {
  const parts = state.split('.');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('.'));
}

/** Counts of the picture's edges and rows. A transition of an outer state counts there for all states inside that have none of their own. */
export function hitsOf(picture: MachinePicture, cells: readonly CoveredCell[]): Hits {
  const edges = new Map<string, number>();
  const rows = new Map<string, number>();
  const drawn = new Set(picture.edges.flatMap(({ from, to, labels }) => labels.map(({ event }) => edgeKey(from, event, to))));
  const written = new Set(picture.states.flatMap(({ id, rows: own }) => own.map(({ event }) => rowKey(id, event))));
  for (const { state, event, to, count } of cells) {
    const edge = around(state)
      .flatMap((from) => around(to).map((target) => edgeKey(from, event, target)))
      .find((key) => drawn.has(key));
    const row = around(state)
      .map((one) => rowKey(one, event))
      .find((key) => written.has(key));
    if (state !== to && edge !== undefined) add(edges, edge, count);
    else if (row !== undefined) add(rows, row, count);
    else if (edge !== undefined) add(edges, edge, count);
  }
  return { edges, rows, states: new Set(cells.flatMap(({ state, to }) => [state, to].flatMap(around))) };
}
