/** What the commits of a move keep of its machine's steps (TRACE-1). */
import { machineGraph } from '../../machines/graph.ts';
import { organisationMove } from '../../machines/organisation-move.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import type { MoveTrace } from '../../storage/moving/move-traces.ts';
import { MOVE_STEPS, type MoveStep } from '../../storage/moving/moves.ts';
import { takenTrace } from '../taken-trace.ts';

export function moveMachine(state: MoveStep): Stepper<typeof organisationMove> {
  return stepper(organisationMove, { stored: { state, context: {} } });
}

/** Takes the steps that the machine made since the last commit; null when it made none. */
export function moveTrace(machine: Stepper<typeof organisationMove>): MoveTrace | null {
  const taken = takenTrace(organisationMove, machine);
  return taken === null ? null : { ...taken, definition: JSON.stringify(machineGraph(organisationMove)) };
}

/** The step to `aborted` from each step of a move that can be aborted: only the transaction knows at which one the move is. */
export function abortTraces(): Partial<Record<MoveStep, MoveTrace>> {
  const traces: Partial<Record<MoveStep, MoveTrace>> = {};
  for (const step of MOVE_STEPS) {
    const machine = moveMachine(step);
    if (step === 'aborted' || machine.send({ type: 'move.aborted' }).state !== 'aborted') continue;
    const trace = moveTrace(machine);
    if (trace !== null) traces[step] = trace;
  }
  return traces;
}
