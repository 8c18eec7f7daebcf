/** Measures how much slower the machine is because of other programs; the scenarios widen their limits of time by it. */
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 1_000;
/** Share of idle processor time from which a machine counts as quiet. */
const QUIET_SHARE = 0.9;
const SLOWNESS_MAX = 20;

function processorTimes(): { readonly idleMs: number; readonly allMs: number } {
  const times = cpus().map((cpu) => cpu.times);
  const allMs = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idleMs: times.reduce((sum, { idle }) => sum + idle, 0), allMs };
}

/** 1 on a quiet machine, 2 where others take half of its processor time, at most 20. Call it only while the test's own programs are idle: their work would count as that of others. */
export async function slowness(): Promise<number> {
  const before = processorTimes();
  await pause(LOOK_MS);
  const after = processorTimes();
  const idleShare = (after.idleMs - before.idleMs) / Math.max(1, after.allMs - before.allMs);
  return idleShare >= QUIET_SHARE ? 1 : Math.min(SLOWNESS_MAX, 1 / Math.max(idleShare, 1 / SLOWNESS_MAX));
}
