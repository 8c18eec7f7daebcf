/** What a process and those it started have written, read from /proc. Linux only. */
import { readFileSync } from 'node:fs';
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

export interface WrittenBy {
  /** The main thread: the event loop. */
  readonly loop: Written;
  /** All other threads, and all processes below. */
  readonly others: Written;
}

function writtenIn(text: string): Written {
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { bytes: field('wchar'), calls: field('syscw'), disk_bytes: field('write_bytes') };
}

/** What `of` makes of two of them, figure by figure. */
function combined(a: Written, b: Written, of: (a: number, b: number) => number): Written {
  return { bytes: of(a.bytes, b.bytes), calls: of(a.calls, b.calls), disk_bytes: of(a.disk_bytes, b.disk_bytes) };
}

const difference = (a: number, b: number): number => a - b;

/** Since the process started. Threads that ended count, child processes that ended do not. @throws when it is gone */
export function writtenBy(pid: number): WrittenBy {
  const loop = writtenIn(readFileSync(`/proc/${pid}/task/${pid}/io`, 'utf8'));
  const all = familyOf(pid)
    .map((each) => writtenIn(readIfThere(`/proc/${each}/io`) ?? ''))
    .reduce((sum, each) => combined(sum, each, (a, b) => a + b));
  return { loop, others: combined(all, loop, difference) };
}

/** What was written between two looks. */
export function writtenBetween(before: WrittenBy, after: WrittenBy): WrittenBy {
  return { loop: combined(after.loop, before.loop, difference), others: combined(after.others, before.others, difference) };
}
