/**
 * The other cells, and the names of their organisations (CELL-1). A name (a key, a token, a code, an id) is stored only as a keyed digest,
 * so that the control file of one cell reveals no key of another.
 */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const cellRow = columns({
  cell: text,
  /** How the other cells reach it. */
  url: text,
  /** By its own clock. */
  seenAtMs: integer,
  /** Rises when another host takes the cell over, from 1. */
  term: integer,
});

export type CellRecord = RowOf<typeof cellRow>;

const foreignName = columns({ organisationId: text });

/** Cells of one installation: an unknown name is looked up on all of them. */
export const CELLS_MAX = 32;

/** Every cell that was ever seen, this one included, by name. */
export function listCells(control: Connection): CellRecord[] {
  return cellRow.all(control, 'FROM cells ORDER BY cell');
}

export function readCellUrl(control: Connection, cell: string): string | undefined {
  return cellRow.get(control, 'FROM cells WHERE cell = :cell', { cell })?.url;
}

/** The organisation that another cell knows under the name with this digest. */
export function readForeignName(control: Connection, digest: string): string | undefined {
  return foreignName.get(control, 'FROM foreign_names WHERE digest = :digest', { digest })?.organisationId;
}

export const transactions = {
  /** Updates each cell whose record is newer than the stored one; of an earlier term none is. */
  seeCells(db: Connection, input: { cells: readonly CellRecord[] }): void {
    for (const { cell, url, seenAtMs, term } of input.cells) {
      db.statement(
        `INSERT INTO cells (cell, url, seen_at_ms, term) VALUES (:cell, :url, :seenAtMs, :term)
         ON CONFLICT (cell) DO UPDATE SET url = excluded.url, seen_at_ms = excluded.seen_at_ms, term = excluded.term
         WHERE excluded.term > cells.term OR (excluded.term = cells.term AND excluded.seen_at_ms > cells.seen_at_ms)`,
      ).run({ cell, url, seenAtMs, term });
    }
  },

  /** Stores the organisation of a name; a name may pass to another organisation. */
  noteForeignName(db: Connection, input: { digest: string; organisationId: string; nowMs: number }): void {
    db.statement(
      `INSERT INTO foreign_names (digest, organisation_id, noted_at_ms) VALUES (:digest, :organisationId, :nowMs)
       ON CONFLICT (digest) DO UPDATE SET organisation_id = excluded.organisation_id, noted_at_ms = excluded.noted_at_ms`,
    ).run(input);
  },

  forgetForeignName(db: Connection, input: { digest: string }): void {
    db.statement('DELETE FROM foreign_names WHERE digest = :digest').run(input);
  },

  /** Deletes names stored before `beforeMs`; they are looked up again when next used. Returns how many were deleted. */
  forgetForeignNames(db: Connection, input: { beforeMs: number }): number {
    return db.statement('DELETE FROM foreign_names WHERE noted_at_ms < :beforeMs').run(input).changes;
  },
};
