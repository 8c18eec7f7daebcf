/** The names of states as they are stored and shown; the machines of the same names decide between them. */

export const TURN_STATES = [
  'new',
  'answering',
  'working',
  'awaiting_tool_results',
  'awaiting_confirmation',
  'continued',
  'completed',
  'failed',
] as const;
export type TurnState = (typeof TURN_STATES)[number];

/**
 * Why a turn failed, for the people who run the app. Of the model's server: `busy`, `exhausted` (quota or credit used up), `silent`, `broken`,
 * `misconfigured`, `refused`. Else the service's own: `empty` (the model said nothing), `budget` (of the day), `interrupted`, `given_up`.
 */
export interface FailureCause {
  readonly kind: 'busy' | 'exhausted' | 'silent' | 'broken' | 'misconfigured' | 'refused' | 'empty' | 'budget' | 'interrupted' | 'given_up';
  /** The HTTP status of the model's server. */
  readonly status?: number;
  /** The upstream's own code, such as `insufficient_quota`. */
  readonly code?: string;
  /** What it said, without keys and without what people wrote. */
  readonly detail?: string;
}

/** How a turn failed, as its row keeps it. */
export interface KeptFailure {
  readonly code: string;
  /** What the person saw. */
  readonly message: string;
  readonly retryable: boolean;
  readonly cause?: FailureCause;
}

/** `pending.editing` for a nested state. */
export const INVOCATION_STATES = [
  'requested',
  'dispatched',
  'pending.clean',
  'pending.editing',
  'pending.rejected',
  'confirmed',
  'executing',
  'declined',
  'expired',
  'succeeded',
  'failed',
  'timed_out',
  'unknown',
] as const;
export type InvocationState = (typeof INVOCATION_STATES)[number];

/** Whether somebody may still answer the call: the client, a person, or the server that runs it. */
export function isUnsettled(state: InvocationState): boolean {
  return state === 'requested' || state === 'dispatched' || state.startsWith('pending.') || state === 'confirmed' || state === 'executing';
}
