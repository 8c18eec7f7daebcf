/**
 * The other cells, and by what names their organisations are called (CELL-1). A name (a key, a token, a code, an id)
 * is kept as a keyed digest only: who reads the control file of one cell learns no key of another.
 */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const cellRow = columns({
  cell: text,
  /** How the other cells reach it. */
  url: text,
  /** By its own clock. */
  seenAtMs: integer,
});

export type CellRecord = RowOf<typeof cellRow>;

const foreignName = columns({ organisationId: text });

/** Cells one installation may have: each unknown name is asked of all of them. */
export const CELLS_MAX = 32;

/** Every cell that was ever seen, this one too, in the order of their names. */
export function listCells(control: Connection): CellRecord[] {
  return cellRow.all(control, 'FROM cells ORDER BY cell');
}

/** How the cell is reached; undefined for one that was never seen. */
export function readCellUrl(control: Connection, cell: string): string | undefined {
  return cellRow.get(control, 'FROM cells WHERE cell = :cell', { cell })?.url;
}

/** The organisation that another cell knows under the name with this digest. */
export function readForeignName(control: Connection, digest: string): string | undefined {
  return foreignName.get(control, 'FROM foreign_names WHERE digest = :digest', { digest })?.organisationId;
}

/** Writes of the control file. */
export const transactions = {
  /** Keeps what is newer than what is known of each cell. */
  seeCells(db: Connection, input: { cells: readonly CellRecord[] }): void {
    for (const { cell, url, seenAtMs } of input.cells) {
      db.statement(
        `INSERT INTO cells (cell, url, seen_at_ms) VALUES (:cell, :url, :seenAtMs)
         ON CONFLICT (cell) DO UPDATE SET url = excluded.url, seen_at_ms = excluded.seen_at_ms
         WHERE excluded.seen_at_ms > cells.seen_at_ms`,
      ).run({ cell, url, seenAtMs });
    }
  },

  /** Notes whose name it is; a name may pass to another organisation. */
  noteForeignName(db: Connection, input: { digest: string; organisationId: string; nowMs: number }): void {
    db.statement(
      `INSERT INTO foreign_names (digest, organisation_id, noted_at_ms) VALUES (:digest, :organisationId, :nowMs)
       ON CONFLICT (digest) DO UPDATE SET organisation_id = excluded.organisation_id, noted_at_ms = excluded.noted_at_ms`,
    ).run(input);
  },

  forgetForeignName(db: Connection, input: { digest: string }): void {
    db.statement('DELETE FROM foreign_names WHERE digest = :digest').run(input);
  },

  /** Names that were noted before `beforeMs` are asked for again when they are next used. Answers how many went. */
  forgetForeignNames(db: Connection, input: { beforeMs: number }): number {
    return db.statement('DELETE FROM foreign_names WHERE noted_at_ms < :beforeMs').run(input).changes;
  },
};
