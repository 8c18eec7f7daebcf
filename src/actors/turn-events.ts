/** The words in which failures reach a stream. */
import type { ModelFailure } from '../assistant/models/model.ts';
import type { ChatTurnEffect, TurnFailure } from '../machines/chat-turn.ts';
import type { StreamEvent } from '../protocol/runtime/stream-events.ts';

/** What a turn ends with that nobody answers any more: the process went away, or the fence refused. */
export const INTERRUPTED: TurnFailure = {
  code: 'internal',
  message: 'The service was interrupted while it answered. Try again.',
  retryable: true,
};

/** What a turn ends with that is not tried again, because the processes that answered it were lost. */
export const GIVEN_UP: TurnFailure = {
  code: 'internal',
  message:
    'The service was interrupted again and again while it answered this message, and does not try again. Send another message instead.',
  retryable: false,
};

export function errorEvent({ code, message, retryable, notice }: TurnFailure): StreamEvent {
  if (notice === undefined) return { type: 'error', code, message, retryable };
  return { type: 'notice', message, ...notice };
}

export const FAILED_END: StreamEvent = { type: 'turn.end', status: 'error', billable: false };

/** The events of a step that only failed. */
export function failureEvents(effects: readonly ChatTurnEffect[]): StreamEvent[] {
  return effects.flatMap((effect) => {
    if (effect.type === 'sendError') return [errorEvent(effect.failure)];
    return effect.type === 'endTurn' ? [FAILED_END] : [];
  });
}

/** What a failing upstream makes of the turn (decisions §7); only before any output is it worth trying again in seconds. */
export function failureOf(failure: ModelFailure, saidNothing: boolean): TurnFailure {
  if (failure.kind === 'busy' && saidNothing) {
    return { code: 'model_busy', message: 'The assistant is busy at the moment. Try again in a few seconds.', retryable: true };
  }
  return { code: 'internal', message: 'The answer could not be finished. Try again.', retryable: true };
}
