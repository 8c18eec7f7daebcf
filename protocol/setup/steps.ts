/**
 * The thirteen steps of the Overview panel (STEP-1): their order, their labels and who may close each.
 * What happens to a step is the `step-panel` machine's matter.
 */

/** Who closes a step: only what the service observed, the agent that says so, or either of them. */
export type ClosedBy = 'server' | 'agent' | 'either';

interface StepRow {
  readonly id: string;
  readonly label: string;
  readonly closedBy: ClosedBy;
  /** The configuration is written here: such a step is finished once the agent moves on to a later one. */
  readonly isWrite: boolean;
}

/** In the order of the panel, which is also the order that "a later step" means. */
export const STEPS = [
  { id: 'waiting', label: 'Waiting for your agent', closedBy: 'server', isWrite: false },
  { id: 'connected', label: 'Agent connected', closedBy: 'server', isWrite: false },
  { id: 'discover', label: 'Reading your code', closedBy: 'agent', isWrite: false },
  { id: 'install', label: 'Installing the SDK', closedBy: 'agent', isWrite: false },
  { id: 'identity', label: 'Connecting your users', closedBy: 'agent', isWrite: false },
  { id: 'appearance', label: 'Setting the appearance', closedBy: 'either', isWrite: true },
  { id: 'experience', label: 'Defining the assistant', closedBy: 'either', isWrite: true },
  { id: 'knowledge', label: 'Filling the knowledge base', closedBy: 'either', isWrite: true },
  { id: 'screens', label: 'Connecting screens', closedBy: 'either', isWrite: true },
  { id: 'actions', label: 'Connecting actions', closedBy: 'either', isWrite: true },
  { id: 'verify', label: 'Building and verifying', closedBy: 'server', isWrite: false },
  { id: 'test', label: 'Test conversation', closedBy: 'server', isWrite: false },
  { id: 'done', label: 'Ready', closedBy: 'either', isWrite: false },
] as const satisfies readonly StepRow[];

export type Step = (typeof STEPS)[number];
export type StepId = Step['id'];

/** Steps that POST /start alone closes. */
type ClaimStepId = 'waiting' | 'connected';
/** Steps an agent may report: POST /events takes no other. */
export type AgentStepId = Exclude<StepId, ClaimStepId>;

export const STEP_STATES = ['pending', 'active', 'done', 'failed', 'skipped'] as const;
/** As GET /status shows it. */
export type StepState = (typeof STEP_STATES)[number];

export const EVENT_STATUSES = ['started', 'progress', 'done', 'skipped', 'failed', 'waiting'] as const;
/** What a progress event says of its step. */
export type EventStatus = (typeof EVENT_STATUSES)[number];

export const STEP_IDS: readonly StepId[] = STEPS.map(({ id }) => id);

/** Whether POST /start closes the step; nobody reports such a one. */
export function isClaimStep(step: StepId): step is ClaimStepId {
  return step === 'waiting' || step === 'connected';
}

export const AGENT_STEPS: readonly AgentStepId[] = STEP_IDS.filter((id): id is AgentStepId => !isClaimStep(id));

export function stepOf(id: StepId): Step {
  return STEPS[STEP_IDS.indexOf(id)] as Step;
}

export function isLaterStep(step: StepId, other: StepId): boolean {
  return STEP_IDS.indexOf(step) > STEP_IDS.indexOf(other);
}
