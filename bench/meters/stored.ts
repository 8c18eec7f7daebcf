/** How large a data directory is once the logs of its databases have been written into them. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** They hold what the database gets at the next checkpoint, and what readers share. */
const PASSING = /\.sqlite-(?:wal|shm)$/;

/** The size that a database's file has after a checkpoint: its pages as a reader counts them, those in the log included. */
function databaseBytes(path: string): number {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return Number(database.pragma('page_count', { simple: true })) * Number(database.pragma('page_size', { simple: true }));
  } finally {
    database.close();
  }
}

/** Bytes of all files below `dir`, while whoever writes them runs. */
export function storedBytes(dir: string): number {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
  return files.reduce((total, path) => {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isFile() !== true || PASSING.test(path)) return total;
    // An empty one is no database: a lock.
    return total + (path.endsWith('.sqlite') && file.size > 0 ? databaseBytes(path) : file.size);
  }, 0);
}
