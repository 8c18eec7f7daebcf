/** The thirteen steps of a session in their reply form: GET /status, GET /context and the console (STEP-1). */
import { storedPanel } from '../../actors/setup/panel.ts';
import { type ClosedBy, STEPS, type StepId, type StepState } from '../../protocol/setup/steps.ts';
import type { SetupSessionRow } from '../../storage/setup/setup-sessions.ts';

/** A step in its reply form. */
export interface PanelStep {
  readonly id: StepId;
  readonly label: string;
  readonly state: StepState;
  readonly closed_by: ClosedBy;
}

/** Every step, in the order of the panel, with the state that the session's row holds. */
export function panelSteps(row: SetupSessionRow): PanelStep[] {
  const { state } = storedPanel(row);
  return STEPS.map(({ id, label, closedBy }) => ({ id, label, state: state[id], closed_by: closedBy }));
}
