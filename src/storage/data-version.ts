/** Tells cheaply whether a file was written to since it was last asked about. */
import type { Connection } from './connection.ts';

/**
 * A number that changes with every commit of another connection to the file, and says nothing else. Compare numbers of
 * the same connection only. Costs a look at the WAL header, no read transaction.
 */
export function dataVersion(db: Connection): number {
  return db.statement('PRAGMA data_version').get()?.data_version as number;
}
