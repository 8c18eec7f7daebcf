/** What a process has used: CPU time of all its threads and its peak memory, read from /proc. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU time of every live thread of a process since it started, in nanoseconds (first field of `schedstat`, user and
 * kernel together). A thread that ended takes its time with it, so differences hold for processes with lasting threads.
 * Throws when the process is gone or the kernel keeps no `schedstat`.
 */
export function cpuNs(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    } catch (error) {
      // A thread may end between the listing and the read; the main thread may not.
      if (task === String(pid)) throw error;
    }
  }
  return total;
}

function statusBytes(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (line === null) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(line[1]) * 1024;
}

/** Peak resident memory of a process since it started, in bytes. Throws when it is gone. */
export function peakRssBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

/** Resident memory of a process now, in bytes. Throws when it is gone. */
export function rssBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}
