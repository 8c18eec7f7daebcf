/** What a commit keeps of the steps that a machine made since the last one. */
import type { AnyMachine, Stepper } from '../machines/step.ts';
import { packSteps } from '../machines/trace.ts';
import { machineVersion } from '../machines/version.ts';
import type { NewTrace } from '../storage/traces/traces.ts';

export function takenTrace(machine: AnyMachine, stepped: Pick<Stepper<AnyMachine>, 'takeSteps'>, input?: unknown): NewTrace | null {
  const taken = stepped.takeSteps();
  const steps = packSteps(taken.made, taken.input ?? input);
  return steps === null ? null : { version: machineVersion(machine), steps };
}
