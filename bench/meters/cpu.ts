/** What a process and those it started have used: CPU time of all threads, memory and open files, read from /proc. Linux only. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pause, type Running } from '../servers/processes.ts';

/** What a server puts off until after the last answer is part of what the answers cost. */
export const SETTLE_MS = 200;

/** Waits until the processes have done what they put off. @throws when one of them has ended */
export async function settled(processes: readonly Running[]): Promise<void> {
  await pause(SETTLE_MS);
  for (const process of processes) process.check();
}

/** Does `work`, and tells the CPU time of each process for it, in nanoseconds. @throws what `work` throws, or when a process has ended */
export async function spending<Result>(
  processes: readonly Running[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly ns: readonly number[] }> {
  const before = processes.map(({ pid }) => cpuNs(pid));
  const result = await work();
  await settled(processes);
  return { result, ns: processes.map(({ pid }, at) => cpuNs(pid) - (before[at] ?? 0)) };
}

/** Processes below one that are looked at: a server under test has a few, so a list that does not end is a mistake. */
const PROCESSES_MAX = 64;

/** A file of /proc; undefined when whoever it tells of has ended. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

export function familyOf(pid: number): readonly number[] {
  const family = [pid];
  for (let at = 0; at < family.length && family.length < PROCESSES_MAX; at++) {
    for (const thread of threadsOf(family[at] ?? pid)) {
      const children = readIfThere(`/proc/${family[at]}/task/${thread}/children`) ?? '';
      family.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return family;
}

/** The threads' times, each the first field of `schedstat`, user and kernel together. */
function ownCpuNs(pid: number): number {
  const times = threadsOf(pid).map((thread) => readIfThere(`/proc/${pid}/task/${thread}/schedstat`) ?? '0');
  return times.reduce((total, text) => total + Number(text.split(' ')[0]), 0);
}

/**
 * CPU time in nanoseconds of every live thread of a process and of its children since they started. A thread or child
 * that ended takes its time with it, so differences hold for servers whose threads and children last.
 * @throws when the process is gone or the kernel keeps no `schedstat`
 */
export function cpuNs(pid: number): number {
  readFileSync(`/proc/${pid}/schedstat`);
  return familyOf(pid).reduce((total, each) => total + ownCpuNs(each), 0);
}

/** @throws when the process itself is gone */
function statusBytes(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  readFileSync(`/proc/${pid}/status`);
  const bytes = familyOf(pid).map((each) => {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readIfThere(`/proc/${each}/status`) ?? '')?.[1];
    return Number(kilobytes ?? 0) * 1024;
  });
  return bytes.reduce((total, each) => total + each, 0);
}

/** What makes the kernel forget the most that a process had resident (proc(5), `clear_refs`). */
const FORGET_PEAK = '5';

/** From here on `peakRssBytes` tells the peak since now. A kernel that cannot forget goes on with the peak since the start. */
export function forgetPeak(pid: number): void {
  for (const each of familyOf(pid)) {
    try {
      writeFileSync(`/proc/${each}/clear_refs`, FORGET_PEAK);
    } catch {
      // It has ended, or the kernel keeps no such file.
    }
  }
}

/** Peak resident memory of a process and of its children, each since it started or was told to forget, in bytes. @throws when it is gone */
export function peakRssBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

export function rssBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}
