/** Console: the cells that this installation consists of (CELL-4). */
import type { Cells } from '../../actors/cells/cells.ts';
import type { CellsAnswer } from '../../protocol/console/answers.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type CellRecord, listCells } from '../../storage/moving/cells.ts';
import { countPlacements } from '../../storage/moving/placements.ts';
import { consoleRoute, json } from '../route.ts';

/** A person waits for the list. */
const LOOK_TIMEOUT_MS = 1_000;

/** Why the cell does not answer as itself; null: it does. */
async function faultOf({ client, self }: Cells, { cell }: CellRecord): Promise<string | null> {
  if (cell === self.id) return null;
  try {
    const { status, json: about } = await client.call(cell, 'GET', '/cell/v1/about', undefined, { timeoutMs: LOOK_TIMEOUT_MS });
    if (status === 200) return null;
    return (about as { error?: { message?: string } } | undefined)?.error?.message ?? `it answers ${status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export const listCellsRoute = consoleRoute('GET', '/cells', undefined, async (_, { cells, storage }) => {
  if (cells == null) return json<CellsAnswer>({ cell: null, cells: [], map_synced_at: null });
  const placed = countPlacements(storage.control);
  const shown = listCells(storage.control).map(async (record) => {
    const fault = await faultOf(cells, record);
    return {
      cell: record.cell,
      url: record.url,
      term: record.term,
      is_this: record.cell === cells.self.id,
      seen_at: timestamp(record.seenAtMs),
      // Those that were ever moved; the others live where they were made.
      placed_organisations: placed.get(record.cell) ?? 0,
      reachable: fault === null,
      fault,
    };
  });
  const { syncedAtMs } = cells.map;
  return json<CellsAnswer>({
    cell: cells.self.id,
    cells: await Promise.all(shown),
    map_synced_at: syncedAtMs === 0 ? null : timestamp(syncedAtMs),
  });
});
