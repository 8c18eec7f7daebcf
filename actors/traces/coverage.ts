/** How often each event came in each state of the machines, in what is kept of an app's traces. */
import { unpackSteps } from '../../machines/trace.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { readNewestPieces } from '../../storage/traces/traces.ts';

/** Turns, and pieces of everything else, that are counted: the newest. Reading and counting them takes some tens of milliseconds. */
export const COVERAGE_PIECES_MAX = 2_000;

function statesOf(path: string): string[] {
  if (!path.startsWith('{')) return [path];
  return Object.entries(JSON.parse(path) as Record<string, unknown>).map(([region, state]) => `${region}.${String(state)}`);
}

/** Counts the steps of an app since a time. Of a parallel machine an event counts in each region's state. */
export function coverageOf(db: Connection, appId: string, sinceMs: number) {
  const counts = new Map<string, number>();
  const pieces = readNewestPieces(db, appId, sinceMs, COVERAGE_PIECES_MAX);
  for (const { machine, steps } of pieces) {
    for (const { from, to, event } of unpackSteps(steps).steps) {
      const after = statesOf(to);
      for (const [region, state] of statesOf(from).entries()) {
        const cell = JSON.stringify([machine, state, event.type, after[region] ?? to]);
        counts.set(cell, (counts.get(cell) ?? 0) + 1);
      }
    }
  }
  const cells = [...counts].map(([cell, count]) => {
    const [machine, state, event, to] = JSON.parse(cell) as [string, string, string, string];
    return { machine, state, event, to, count };
  });
  return { cells, complete: pieces.length < COVERAGE_PIECES_MAX };
}
