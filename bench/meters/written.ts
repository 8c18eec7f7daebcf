/** What a server writes, as /proc counts it and as its files show it. Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Target } from '../servers/candidate.ts';
import { familyOf, readIfThere } from './cpu.ts';

/**
 * As the kernel counts: bytes and calls of `write`, `pwrite`, `writev` and their like, to whatever file, pipe or socket. What is sent by
 * `send` or `sendmsg` is not among them.
 */
export interface Written {
  readonly bytes: number;
  readonly calls: number;
  /** Of it what went to a disk, in whole pages, those included that were only partly written anew. */
  readonly disk_bytes: number;
}

interface WrittenBy {
  /** The main thread: the event loop. */
  readonly loop: Written;
  /** All other threads, and all processes below. */
  readonly others: Written;
}

function writtenIn(text: string): Written {
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { bytes: field('wchar'), calls: field('syscw'), disk_bytes: field('write_bytes') };
}

function combined(a: Written, b: Written, of: (a: number, b: number) => number): Written {
  return { bytes: of(a.bytes, b.bytes), calls: of(a.calls, b.calls), disk_bytes: of(a.disk_bytes, b.disk_bytes) };
}

const difference = (a: number, b: number): number => a - b;

/** Since the process started. Threads that ended count, child processes that ended do not. @throws when it is gone */
function writtenBy(pid: number): WrittenBy {
  const loop = writtenIn(readFileSync(`/proc/${pid}/task/${pid}/io`, 'utf8'));
  const all = familyOf(pid)
    .map((each) => writtenIn(readIfThere(`/proc/${each}/io`) ?? ''))
    .reduce((sum, each) => combined(sum, each, (a, b) => a + b));
  return { loop, others: combined(all, loop, difference) };
}

function writtenBetween(before: WrittenBy, after: WrittenBy): WrittenBy {
  return { loop: combined(after.loop, before.loop, difference), others: combined(after.others, before.others, difference) };
}

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

/** What a server wrote between two looks. */
export interface Wrote extends WrittenBy {
  /** By how much its files grew, and how often it had the disk store them; absent where it stores nothing. */
  readonly stored_bytes?: number;
  readonly syncs?: number;
}

/** Looks now; what it returns looks again, and tells what came between. */
export function writing({ process: { pid }, dataDir, disk }: Pick<Target, 'process' | 'dataDir' | 'disk'>): () => Wrote {
  const look = () => ({ by: writtenBy(pid), stored: dataDir === undefined ? 0 : storedBytes(dataDir), syncs: disk?.syncs().count ?? 0 });
  const before = look();
  return () => {
    const after = look();
    const kept = dataDir === undefined ? {} : { stored_bytes: after.stored - before.stored };
    return { ...writtenBetween(before.by, after.by), ...kept, ...(disk === undefined ? {} : { syncs: after.syncs - before.syncs }) };
  };
}
