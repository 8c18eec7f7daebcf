/**
 * A process that was stopped in the middle of a commit keeps SQLite's lock on that file, and nobody else can write to it: no fence
 * helps, because nothing can be written behind it. Such a process is killed; the kernel frees the lock, and what it had not
 * committed is gone, as if it had crashed. A stopped process that holds nothing is left alone. Linux only: /proc tells who holds what.
 */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Members } from './members.ts';

/** The byte of a `-shm` file that SQLite locks for whoever writes (SQLite file format, "WAL-mode file locking": WAL_WRITE_LOCK). */
const WRITE_LOCK_BYTE = '120';
/** It may be stopped a moment after it fell silent for another reason; then it stays as it is. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 700;

/** Whether the process was stopped (SIGSTOP, a debugger). */
function isStopped(pid: number): boolean {
  // The name is in parentheses and may hold anything; the state follows it.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return /^ [Tt] /.test(stat.slice(stat.lastIndexOf(')') + 1));
}

/** Whether `locks` (the text of /proc/locks) shows that the process holds a write lock of a WAL. */
export function holdsWriteLock(locks: string, pid: number): boolean {
  return locks.split('\n').some((line) => {
    const [, , , kind, holder, , from, to] = line.trim().split(/\s+/);
    return kind === 'WRITE' && holder === String(pid) && from === WRITE_LOCK_BYTE && to === WRITE_LOCK_BYTE;
  });
}

/** Kills nodes that were stopped while they held a file of the cell locked. Answers how to end that. */
export function watchStoppedWriters(members: Pick<Members, 'onLost' | 'liveness'>, log: Logger): () => void {
  const timers = new Set<NodeJS.Timeout>();
  const look = (node: string, pid: number, left: number) => {
    if (members.liveness(node) !== 'silent') return;
    try {
      if (isStopped(pid) && holdsWriteLock(readFileSync('/proc/locks', 'utf8'), pid)) {
        log.error({ other: node, pid }, 'a node was stopped in the middle of a commit and kept a file locked: it is killed');
        process.kill(pid, 'SIGKILL');
        return;
      }
    } catch {
      // It is gone by now, or this is no Linux.
      return;
    }
    if (left === 0) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      look(node, pid, left - 1);
    }, LOOK_AGAIN_MS);
    timers.add(timer.unref());
  };
  members.onLost((node, liveness, pid) => {
    if (liveness === 'silent') look(node, pid, LOOKS);
  });
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
