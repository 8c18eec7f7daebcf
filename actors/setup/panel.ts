/** A session's panel. The machine is told of an observation once, so that an agent's `failed` stands until something newer. */
import { type Stepper, stepper } from '../../machines/step.ts';
import { type StepPanelContext, stepPanel } from '../../machines/step-panel.ts';
import { type ClosedBy, STEPS, type StepId, type StepState } from '../../protocol/setup/steps.ts';
import type { NewSetupEvent, SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';
import type { Observations } from './app-status.ts';

type States = Readonly<Record<StepId, StepState>>;

export interface StoredPanel {
  readonly state: States;
  readonly context: StepPanelContext;
  /** The newest observation of each step that no longer counts: it was reported, or the agent has reported since. */
  readonly seen?: Observations;
}

const OBSERVED_TITLES: Partial<Record<StepId, string>> = {
  verify: 'The app connected.',
  test: 'The smoke test passed.',
  knowledge: 'A knowledge source is indexed.',
  screens: 'A build registered its screens.',
};

function storedPanel(row: Pick<SetupSessionRow, 'panel'>): StoredPanel {
  return JSON.parse(row.panel) as StoredPanel;
}

export function panelJson(panel: Stepper<typeof stepPanel>, seen: Observations = {}): string {
  return JSON.stringify({ state: panel.snapshot.value, context: panel.snapshot.context, seen });
}

/** The panel of one session during one piece of work. Thirteen regions take a while to wake, and most work leaves them alone. */
export class SessionPanel {
  readonly #stored: StoredPanel;
  readonly #json: string;
  readonly #seenBefore: Observations;
  #seen: Observations;
  #awake: Stepper<typeof stepPanel> | undefined;

  constructor(row: Pick<SetupSessionRow, 'panel'>) {
    this.#json = row.panel;
    this.#stored = storedPanel(row);
    this.#seenBefore = this.#stored.seen ?? {};
    this.#seen = this.#seenBefore;
  }

  get machine(): Stepper<typeof stepPanel> {
    this.#awake ??= stepper(stepPanel, { stored: this.#stored });
    return this.#awake;
  }

  get #states(): States {
    return this.#awake === undefined ? this.#stored.state : (this.#awake.snapshot.value as States);
  }

  observe(observations: Observations): NewSetupEvent[] {
    const lines: NewSetupEvent[] = [];
    for (const [step, atMs] of Object.entries(observations) as [StepId, number][]) {
      const state = this.#states[step];
      // What the agent says now it says knowing what was there to be seen.
      const before = this.#stored.state[step];
      const isSaidNow = state !== before && (before === 'done' || state === 'failed' || state === 'skipped');
      const isNew = atMs > (this.#seen[step] ?? Number.NEGATIVE_INFINITY);
      if (state === 'done' || !isNew) continue;
      this.#seen = { ...this.#seen, [step]: atMs };
      if (isSaidNow) continue;
      this.machine.send({ type: 'step.observed', step });
      lines.push({ step, status: 'done', title: OBSERVED_TITLES[step] ?? null, detail: null, data: null, origin: 'server' });
    }
    return lines;
  }

  takeTrace(): NewTrace | null {
    return this.#awake === undefined ? null : takenTrace(stepPanel, this.#awake);
  }

  toJson(): string {
    const isAsleep = this.#awake === undefined && this.#seen === this.#seenBefore;
    return isAsleep ? this.#json : panelJson(this.machine, this.#seen);
  }
}

export interface PanelStep {
  readonly id: StepId;
  readonly label: string;
  readonly state: StepState;
  readonly closed_by: ClosedBy;
}

export function panelSteps(row: SetupSessionRow): PanelStep[] {
  const { state } = storedPanel(row);
  return STEPS.map(({ id, label, closedBy }) => ({ id, label, state: state[id], closed_by: closedBy }));
}
