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
