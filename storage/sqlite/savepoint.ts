/** A part of a transaction that is taken back as a whole, while the rest of the transaction goes on. */
import type { Connection } from './connection.ts';

/** Runs `work`; nothing that it wrote stays when it throws. @throws what `work` throws. */
export function inSavepoint<Value>(db: Connection, work: () => Value): Value {
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
