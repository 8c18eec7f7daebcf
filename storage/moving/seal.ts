/**
 * The seal of an organisation's file (CELL-10). While it is set, no process of the cell changes the file, because the writer reads the seal
 * inside each transaction. A moving organisation is copied under its seal, and the copy carries it, so that at most one copy has none.
 *
 * It has two stages. Closing: no turn is opened, and running turns end. Sealed: nothing is written except the removal of the seal. Only
 * the move that set the seal removes it.
 */
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Sealing } from '../sqlite/writer.ts';

/** `sealed_at_ms` of a file that is closing. */
const CLOSING = 0;
const sealRow = columns({
  moveId: text,
  /** Null while turns may still end. */
  sealedAtMs: orNull(integer).from(`nullif(sealed_at_ms, ${CLOSING})`),
});

export type Seal = RowOf<typeof sealRow>;

const turnOwner = columns({ owner: text.from('DISTINCT c.owner') });

/** Writes that begin work which would have to be awaited. */
const OPENING: ReadonlySet<string> = new Set(['openTurn']);

export function readSeal(db: Connection): Seal | undefined {
  return sealRow.get(db, 'FROM seal WHERE id = 1');
}

/** The nodes with turns that have not ended, each once; a lost node has left its turns open. */
export function ownersOfOpenTurns(db: Connection): string[] {
  return turnOwner
    .all(db, 'FROM turns t JOIN conversations c ON c.id = t.conversation_id WHERE t.ended_at_ms IS NULL ORDER BY c.owner')
    .map(({ owner }) => owner);
}

interface SealInput {
  readonly moveId: string;
  readonly nowMs: number;
}

/** Sets the seal; true when it is this move's afterwards. Takes over the seal of an earlier move: move ids rise. */
function putOn(db: Connection, moveId: string, sealedAtMs: number): boolean {
  db.statement(
    `INSERT INTO seal (id, move_id, sealed_at_ms) VALUES (1, :moveId, :sealedAtMs)
     ON CONFLICT (id) DO UPDATE SET move_id = excluded.move_id WHERE seal.move_id < excluded.move_id`,
  ).run({
    moveId,
    sealedAtMs,
  });
  return readSeal(db)?.moveId === moveId;
}

/** Writes of an organisation's file. Each may be repeated. */
export const transactions = {
  /** From now on no turn is opened. False when another move has its seal on the file. */
  closeOrganisation(db: Connection, { moveId }: SealInput): boolean {
    return putOn(db, moveId, CLOSING);
  },

  /** From now on nothing else is written. False when another move has its seal on the file. */
  sealOrganisation(db: Connection, { moveId, nowMs }: SealInput): boolean {
    if (!putOn(db, moveId, nowMs)) return false;
    db.statement(`UPDATE seal SET sealed_at_ms = :nowMs WHERE id = 1 AND sealed_at_ms = ${CLOSING}`).run({ nowMs });
    return true;
  },

  /** Removes this move's seal; another move's stays. */
  unsealOrganisation(db: Connection, { moveId }: { moveId: string }): void {
    db.statement('DELETE FROM seal WHERE id = 1 AND move_id = :moveId').run({ moveId });
  },
};

export const sealing: Sealing = {
  appliesTo: (db) => db.statement("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'seal'").get() !== undefined,
  refusals(db) {
    const seal = readSeal(db);
    if (seal === undefined) return undefined;
    return seal.sealedAtMs === null ? (name) => OPENING.has(name) : (name) => !Object.hasOwn(transactions, name);
  },
  isChangedBy: (name) => Object.hasOwn(transactions, name),
};
