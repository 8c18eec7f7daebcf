/** A trace run through the machine of this page: what each guard said and how the context changed, which a trace does not keep. */
import { type Difference, replay } from '../../../machines/replay.ts';
import { beginning, judge } from '../../../machines/simulator/verdict.ts';
import { simulatedMachine, type WalkedWay, type WalkStep } from '../../../machines/simulator/walk.ts';
import type { Trace } from './traces.ts';

/** A setup session of a day has some hundreds; of a longer trace the first steps are explained. */
const EXPLAINED_MAX = 2_000;

export interface Replayed {
  readonly way: WalkedWay;
  readonly difference: Difference | null;
}

/** Undefined: this release has no such machine, or it cannot begin as the trace does. No effect is performed. */
export function replayed(trace: Trace): Replayed | undefined {
  const simulated = simulatedMachine(trace.machine);
  if (simulated === undefined) return undefined;
  const { machine } = simulated;
  const { input, steps } = trace;
  const { same, difference } = replay(machine, input === undefined ? { steps } : { input, steps });
  if (difference?.of === 'beginning') return undefined;
  const start = beginning(machine, typeof input === 'object' && input !== null ? input : undefined);
  const walked: WalkStep[] = [];
  let before = start;
  for (const { event } of steps.slice(0, Math.min(same, EXPLAINED_MAX))) {
    const verdict = judge(machine, before, event);
    walked.push({ event, before, verdict });
    before = verdict.after;
  }
  return { way: { start, steps: walked }, difference };
}
