/**
 * Kills suspended processes (SIGSTOP, a debugger) that hold a lock. A process that is suspended in a commit keeps SQLite's lock on that file, so no
 * other process can write to it; while it opens or closes a file, no other can open it; at its start, no other can start. No fence
 * helps behind a lock. When the process is killed the kernel frees the lock, and uncommitted work is lost as in a crash. A process that holds
 * no lock, or only that of a checkpoint, is left alone. Linux only: it reads /proc.
 */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Members } from './members.ts';

/**
 * Ranges of bytes that SQLite locks for one connection alone. Of a `-shm` file: WAL_WRITE_LOCK, WAL_RECOVER_LOCK (SQLite, "WAL-mode file
 * format", 2.3) and the byte behind these, taken while it is made. Of the file itself: PENDING, RESERVED and SHARED ("File locking and
 * concurrency", 3.0): a last close, the start lock, the lock under which a file is put in place. The target of a VACUUM INTO, which
 * concerns nobody else, looks the same: its move goes on in another process then.
 */
const LOCKS_OUT: readonly (readonly [from: number, to: number])[] = [
  [120, 120],
  [122, 122],
  [128, 128],
  [0x4000_0000, 0x4000_01ff],
];
/** A process may fall silent for another reason and be suspended a moment later, so it is checked several times. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 700;

/** Whether the process was stopped (SIGSTOP, a debugger). */
function isStopped(pid: number): boolean {
  // The name is in parentheses and may hold anything; the state follows it.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return /^ [Tt] /.test(stat.slice(stat.lastIndexOf(')') + 1));
}

/** Whether `locks` (the text of /proc/locks) shows that the process keeps others from opening a file of SQLite, or writing to it. */
export function locksOthersOut(locks: string, pid: number): boolean {
  return locks.split('\n').some((line) => {
    const [, , , kind, holder, , from, to] = line.trim().split(/\s+/);
    const isHeldAlone = kind === 'WRITE' && holder === String(pid);
    // The kernel shows neighbouring locks of one holder as one.
    return isHeldAlone && LOCKS_OUT.some(([first, last]) => Number(from) <= last && Number(to) >= first);
  });
}

/** Kills nodes that were stopped while they held a file of the cell locked. Returns a function that stops it. */
export function watchStoppedWriters(members: Pick<Members, 'onLost' | 'liveness'>, log: Logger): () => void {
  const timers = new Set<NodeJS.Timeout>();
  const look = (node: string, pid: number, left: number) => {
    if (members.liveness(node) !== 'silent') return;
    try {
      if (isStopped(pid) && locksOthersOut(readFileSync('/proc/locks', 'utf8'), pid)) {
        log.error({ other: node, pid }, 'a node was suspended while it held a lock on a database: killing it');
        process.kill(pid, 'SIGKILL');
        return;
      }
    } catch {
      // The process is gone, or this is not Linux.
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
