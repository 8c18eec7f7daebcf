/** What is deleted of traces: whole turns and whole pieces, the oldest first, once they are too old or too large together. */
import { columns, integer, type RowOf } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/** What a piece takes in the file beside its steps: ids, version, times and the row itself. */
const PIECE_BYTES = 96;

const turnSize = columns({
  key: integer.from('turn'),
  bytes: integer.from(`sum(octet_length(steps) + ${PIECE_BYTES})`),
  atMs: integer.from('max(at_ms)'),
});
const pieceSize = columns({ key: integer.from('id'), bytes: integer.from(`octet_length(steps) + ${PIECE_BYTES}`), atMs: integer });

/** Traces of turns, or everything else: each has a table and bounds of its own. */
export type TraceTable = 'turn_traces' | 'traces';

export function readTraceSizes(db: Connection, table: TraceTable, before: number, limit: number): RowOf<typeof turnSize>[] {
  if (table === 'traces') return pieceSize.all(db, 'FROM traces WHERE id < :before ORDER BY id DESC LIMIT :limit', { before, limit });
  return turnSize.all(db, 'FROM turn_traces WHERE turn < :before GROUP BY turn ORDER BY turn DESC LIMIT :limit', { before, limit });
}

/** When the oldest trace that is kept was written last; null when there is none. */
export function oldestTraceAt(db: Connection): number | null {
  const turn = turnSize.get(db, 'FROM turn_traces WHERE turn = (SELECT min(turn) FROM turn_traces) GROUP BY turn', {});
  const piece = pieceSize.get(db, 'FROM traces WHERE id = (SELECT min(id) FROM traces)', {});
  const times = [turn?.atMs, piece?.atMs].filter((atMs) => atMs !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}

export const transactions = {
  /** Deletes the traces numbered `upTo` and below, the oldest first, at most `limit` pieces. Returns how many: fewer than `limit` when that was all. */
  trimTraces(
    db: Connection,
    { table, upTo, limit }: { readonly table: TraceTable; readonly upTo: number; readonly limit: number },
  ): number {
    const sql =
      table === 'traces'
        ? 'DELETE FROM traces WHERE id IN (SELECT id FROM traces WHERE id <= :upTo ORDER BY id LIMIT :limit)'
        : `DELETE FROM turn_traces WHERE (turn, piece) IN
             (SELECT turn, piece FROM turn_traces WHERE turn <= :upTo ORDER BY turn, piece LIMIT :limit)`;
    return db.statement(sql).run({ upTo, limit }).changes;
  },
};
