/**
 * The lock on a data directory (CLUSTER-1): without Redis one process alone may use it. Nodes of a cell
 * start one after the other. Each lock is an open SQLite transaction on a file of its own: the kernel frees it when the process
 * dies, however it dies.
 */
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { storageErrorCodeOf } from './storage-error.ts';

/** `alone`: no other process may hold the directory. `shared`: others may, as long as each of them says so (nodes of a cell with Redis). */
type LockMode = 'alone' | 'shared';

export interface DataDirLock {
  /** Releases the directory. Idempotent. */
  release(): void;
}

/** A start holds the lock for some seconds, including the demo app of a first start; a node that needs longer hangs. */
const START_WAIT_MS = 60_000;
const START_PAUSE_MIN_MS = 20;
/** Random, so that waiting nodes do not collide again. */
const START_PAUSE_SPREAD_MS = 40;

/** A process id in the range Linux and macOS hand out; the file may hold anything after a torn write. */
const PID = /^[1-9][0-9]{0,9}$/;

function runningPid(pidPath: string): number | undefined {
  try {
    const text = readFileSync(pidPath, 'utf8').trim();
    if (!PID.test(text)) return undefined;
    process.kill(Number(text), 0);
    return Number(text);
  } catch (error) {
    // EPERM: it runs, as another user.
    const denied = error instanceof Error && 'code' in error && error.code === 'EPERM';
    return denied ? Number(readFileSync(pidPath, 'utf8').trim()) : undefined;
  }
}

/** On a read-only disk no process can write, so no lock is needed, and SQLite could not lock a file either. */
function isReadOnly(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** Writes the pid, which is only shown to a process that is refused; on a full disk it is left out. */
function tellPid(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    if (storageErrorCodeOf(error) !== 'disk_full') throw error;
  }
}

function refusal(dir: string, pid: number | undefined, mode: LockMode): Error {
  const holder = pid === undefined ? 'another process' : `process ${pid}`;
  const why =
    mode === 'alone'
      ? 'Only one process may use a data directory: stop that process, or start this one with another DATA_DIR.'
      : 'That process runs without REDIS_URL and so must be alone: stop it, or give all of them the same REDIS_URL.';
  return new Error(`The data directory ${dir} is in use by ${holder}. ${why}`);
}

/** Never waits. @throws Error that names the directory, the holder's pid where it is known, and what to do. */
export function lockDataDir(dir: string, mode: LockMode = 'alone'): DataDirLock {
  if (isReadOnly(dir)) return { release() {} };
  const pidPath = join(dir, 'lock.pid');
  const database = new Database(join(dir, 'lock.sqlite'), { timeout: 0 });
  try {
    if (mode === 'alone') {
      database.pragma('locking_mode = EXCLUSIVE');
      // Nothing is ever committed here, and a full disk has no room for a journal.
      database.pragma('journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
    } else {
      // The read takes SQLite's shared lock; the open transaction keeps it.
      database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    }
  } catch (error) {
    database.close();
    if (storageErrorCodeOf(error) === 'busy') throw refusal(dir, runningPid(pidPath), mode);
    throw error;
  }
  tellPid(pidPath);
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      // While the lock is still held: afterwards the file may already name the next holder.
      if (mode === 'alone') rmSync(pidPath, { force: true });
      database.close();
    },
  };
}

function tryBegin(database: Database.Database): boolean {
  try {
    // Repeated at each try: while another process holds the lock, even this fails as busy.
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (storageErrorCodeOf(error) === 'busy') return false;
    throw error;
  }
}

/**
 * Runs `work` under the start lock of the directory `dir` (which must exist), so that a start's work is done once. Waits for other nodes,
 * `waitMs` at most (60 s); the kernel frees the lock of a process that dies.
 * @throws Error when they take longer; what `work` rejects with.
 */
export async function withStartLock<Value>(dir: string, work: () => Promise<Value>, waitMs = START_WAIT_MS): Promise<Value> {
  if (isReadOnly(dir)) return work();
  const database = new Database(join(dir, 'start.sqlite'), { timeout: 0 });
  try {
    for (const endMs = performance.now() + waitMs; !tryBegin(database); ) {
      if (performance.now() >= endMs) {
        throw new Error(
          `Another node has been starting on ${dir} for ${Math.round(waitMs / 1000)} s: stop the one that hangs and start again.`,
        );
      }
      await pause(START_PAUSE_MIN_MS + Math.random() * START_PAUSE_SPREAD_MS);
    }
    return await work();
  } finally {
    database.close();
  }
}
