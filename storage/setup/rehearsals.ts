/** Writes of an app's configuration, made and rolled back to see whether they are refused: each rule stands once, in the write itself. */
import { type PlainRefusal, plainRefusal, Refusal } from '../../protocol/errors.ts';
import { transactions as actions } from '../apps/http-actions.ts';
import { transactions as screens } from '../apps/screens.ts';
import { requireSource, transactions as sources } from '../knowledge/knowledge.ts';
import type { Connection } from '../sqlite/connection.ts';

const REHEARSED = {
  addSource: sources.addSource,
  requireSource,
  upsertAction: actions.upsertAction,
  archiveAction: actions.archiveAction,
  declareScreens: screens.declareScreens,
};

type Rehearsed = typeof REHEARSED;

export type RehearsedWrite = {
  readonly [Name in keyof Rehearsed]: { readonly name: Name; readonly input: Parameters<Rehearsed[Name]>[1] };
}[keyof Rehearsed];

/** Runs `work`; rolls back what it wrote when it throws. @throws what `work` throws. */
function inSavepoint<Value>(db: Connection, work: () => Value): Value {
  db.statement('SAVEPOINT part').run();
  try {
    const value = work();
    db.statement('RELEASE part').run();
    return value;
  } catch (error) {
    try {
      db.statement('ROLLBACK TO part').run();
      db.statement('RELEASE part').run();
    } catch {
      // SQLite ended the whole transaction (a full disk, an I/O error): the first error says why.
    }
    throw error;
  }
}

class Withdraw extends Error {}

function refusalOf(db: Connection, { name, input }: RehearsedWrite): PlainRefusal | null {
  try {
    inSavepoint(db, () => REHEARSED[name](db, input as never));
    return null;
  } catch (error) {
    if (error instanceof Refusal) return plainRefusal(error);
    throw error;
  }
}

export const transactions = {
  /** Makes the writes one after the other and rolls all of them back. Returns the refusal of each; null: it was accepted. */
  rehearseWrites(db: Connection, { writes }: { readonly writes: readonly RehearsedWrite[] }): readonly (PlainRefusal | null)[] {
    let refusals: readonly (PlainRefusal | null)[] = [];
    try {
      inSavepoint(db, () => {
        refusals = writes.map((write) => refusalOf(db, write));
        throw new Withdraw();
      });
    } catch (error) {
      if (!(error instanceof Withdraw)) throw error;
    }
    return refusals;
  },
};
