/** The words in which failures reach a stream. */
import type { ModelFailure, RoundResult } from '../../assistant/models/model.ts';
import type { TurnFailure } from '../../machines/chat-turn.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';

/** The failure of a turn whose attempt was cut off: the process went away, or the fence refused. */
export const INTERRUPTED: TurnFailure = {
  code: 'internal',
  message: 'The service was interrupted while it answered. Try again.',
  retryable: true,
};

/** The failure of a turn that is not tried again, because the processes that answered it were lost. */
export const GIVEN_UP: TurnFailure = {
  code: 'internal',
  message:
    'The service was interrupted again and again while it answered this message, and does not try again. Send another message instead.',
  retryable: false,
};

export function errorEvent({ code, message, retryable, retryAfterS, notice }: TurnFailure): StreamEvent {
  if (notice !== undefined) return { type: 'notice', message, ...notice };
  return { type: 'error', code, message, retryable, ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }) };
}

export const FAILED_END: StreamEvent = { type: 'turn.end', status: 'error', billable: false };

/** The turn's failure when the upstream fails (MODEL-16). A retry within seconds is worth it only before any output. */
export function failureOf({ kind, retryAfterS }: ModelFailure, saidNothing: boolean): TurnFailure {
  switch (kind) {
    case 'busy': {
      if (!saidNothing) break;
      const wait = retryAfterS === undefined ? {} : { retryAfterS };
      return { code: 'model_busy', message: 'The assistant is busy at the moment. Try again in a few seconds.', retryable: true, ...wait };
    }
    case 'misconfigured':
      return {
        code: 'internal',
        message: 'The assistant cannot answer, because its model is not set up correctly. Trying again does not help until that is mended.',
        retryable: false,
      };
    case 'refused':
      return {
        code: 'internal',
        message: 'The assistant cannot answer this message here. Send another one, or begin a new conversation.',
        retryable: false,
      };
  }
  return { code: 'internal', message: 'The answer could not be finished. Try again.', retryable: true };
}

/** The failure of a turn in which the model said nothing, by how its last round ended. */
export function nothingSaid(reason: RoundResult['reason']): TurnFailure {
  const code = 'internal';
  if (reason === 'length') {
    const message = 'The answer would have become too long for the model. Ask for less at once, or begin a new conversation.';
    return { code, message, retryable: false };
  }
  if (reason === 'filtered') {
    return {
      code,
      message: "The content filter of the assistant's model does not let it answer this. Ask in other words.",
      retryable: false,
    };
  }
  return { code, message: 'The assistant gave no answer. Try again.', retryable: true };
}
