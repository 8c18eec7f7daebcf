/** What work costs processes: their CPU time from just before it until shortly after its end. */
import { pause, type Running } from '../servers/processes.ts';
import { cpuNs } from './cpu.ts';

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
