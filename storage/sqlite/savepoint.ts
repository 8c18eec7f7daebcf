/** A part of a transaction that can be rolled back while the rest goes on. */
import type { Connection } from './connection.ts';

/** Runs `work`; rolls back what it wrote when it throws. @throws what `work` throws. */
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
