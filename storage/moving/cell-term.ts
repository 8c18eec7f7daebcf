/**
 * Which cell a data directory is of, and in which term it serves (CELL-16). The term rises when another host takes the cell over: whoever
 * serves in an earlier one is fenced.
 */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const cellTerm = columns({ cell: text, term: integer, replica: text });

export interface CellTerm {
  readonly cell: string;
  readonly term: number;
}

/** The term of a cell that nobody ever took over. */
export const FIRST_TERM = 1;

/** Undefined: the directory has not served as a cell yet. */
export function readCellTerm(control: Connection): RowOf<typeof cellTerm> | undefined {
  return cellTerm.get(control, 'FROM cell_term WHERE id = 1');
}

/** Makes the directory one of this cell and term, for a take-over; outside the writer, before the service starts. */
export function raiseCellTerm(control: Connection, input: CellTerm & { nowMs: number }): void {
  control
    .statement(
      `INSERT INTO cell_term (id, cell, term, since_ms) VALUES (1, :cell, :term, :nowMs)
       ON CONFLICT (id) DO UPDATE SET cell = excluded.cell, term = excluded.term, since_ms = excluded.since_ms, replica = ''`,
    )
    .run({ ...input });
}

export const transactions = {
  /** Notes which cell the directory is of, unless it is noted, and which address of a replica says so; '': none, or as it was. */
  noteCell(db: Connection, input: { cell: string; replica: string; nowMs: number }): void {
    db.statement(
      `INSERT INTO cell_term (id, cell, term, since_ms, replica) VALUES (1, :cell, ${FIRST_TERM}, :nowMs, :replica)
       ON CONFLICT (id) DO UPDATE SET replica = iif(excluded.replica = '', replica, excluded.replica)`,
    ).run(input);
  },
};
