/** The events that effects of a turn's steps become, blocks apart: the start, calls for the client, errors and notices, the end; and the words of failures. */
import type { ModelFailure, RoundResult } from '../../assistant/models/model.ts';
import type { ChatTurnEffect, TurnFailure } from '../../machines/chat-turn.ts';
import type { PendingInvocation, StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { usageOf } from './admission.ts';
import type { TurnFacts } from './facts.ts';

export interface TurnStart {
  readonly conversationId: string;
  readonly messageId: string;
  readonly model: string;
  readonly requestId: string;
}

/** `turn.start`, as it is said and told again. */
export function startEvent({ conversationId, messageId, model, requestId }: TurnStart): Extract<StreamEvent, { type: 'turn.start' }> {
  return { type: 'turn.start', conversation_id: conversationId, message_id: messageId, model, request_id: requestId };
}

export type EndTurn = Extract<ChatTurnEffect, { readonly type: 'endTurn' }>;

/** How one turn words these events; a missing one is not sent. */
interface Says {
  start?(): StreamEvent;
  executions?(): readonly StreamEvent[];
  /** `isNotice`: the turn ends with a notice. */
  end(effect: EndTurn, isNotice: boolean): StreamEvent;
}

/** In the order of the effects. */
export function stepEvents(effects: readonly ChatTurnEffect[], says: Says): StreamEvent[] {
  const isNotice = effects.some((effect) => effect.type === 'sendError' && effect.failure.notice !== undefined);
  const events: StreamEvent[] = [];
  for (const effect of effects) {
    if (effect.type === 'sendStart' && says.start !== undefined) events.push(says.start());
    else if (effect.type === 'executeActions' && says.executions !== undefined) events.push(...says.executions());
    else if (effect.type === 'sendError') events.push(errorEvent(effect.failure));
    else if (effect.type === 'endTurn') events.push(says.end(effect, isNotice));
  }
  return events;
}

/** Why an answer is not whole, as `turn.end` says it. */
function short({ status, stopped }: EndTurn, reason: RoundResult['reason']): { stopped?: true; truncated?: true; filtered?: true } {
  if (stopped) return { stopped: true };
  if (status !== 'completed') return {};
  if (reason === 'length') return { truncated: true };
  return reason === 'filtered' ? { filtered: true } : {};
}

interface Outcome {
  readonly pending: readonly PendingInvocation[];
  readonly reason: RoundResult['reason'];
  readonly isTokenRefused: boolean;
}

/** `turn.end` of a turn that ran. A turn that ends with a notice is completed and free, like one that is refused with a notice. */
export function endEvent(effect: EndTurn, isNotice: boolean, turn: TurnFacts, { pending, reason, isTokenRefused }: Outcome): StreamEvent {
  const { status } = effect;
  const usage = usageOf(turn);
  const billable = turn.command.caller.channel === 'live' && status !== 'error';
  const isPlain = status === 'completed' && !effect.stopped && reason === 'stop' && !isTokenRefused;
  if (isPlain && usage !== undefined) return { type: 'turn.end', status, billable, usage };
  return {
    type: 'turn.end',
    status: isNotice ? 'completed' : status,
    ...(status.startsWith('awaiting') ? { pending } : {}),
    billable,
    ...short(effect, reason),
    ...(isTokenRefused ? { user_token_refused: true } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The failure of a turn whose attempt was cut off: the process went away, or the fence refused. */
export const INTERRUPTED: TurnFailure = {
  code: 'internal',
  message: 'The service was interrupted while it answered. Try again.',
  retryable: true,
  cause: { kind: 'interrupted' },
};

/** The failure of a turn that is not tried again, because the processes that answered it were lost. */
export const GIVEN_UP: TurnFailure = {
  code: 'internal',
  message:
    'The service was interrupted again and again while it answered this message, and does not try again. Send another message instead.',
  retryable: false,
  cause: { kind: 'given_up' },
};

export function errorEvent({ code, message, retryable, retryAfterS, notice }: TurnFailure): StreamEvent {
  if (notice !== undefined) return { type: 'notice', message, ...notice };
  return { type: 'error', code, message, retryable, ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }) };
}

export const FAILED_END: StreamEvent = { type: 'turn.end', status: 'error', billable: false };

/** The turn's failure when the upstream fails (MODEL-16). A retry within seconds is worth it only before any output. */
export function failureOf(failure: ModelFailure, saidNothing: boolean): TurnFailure {
  const { kind, detail, status, code } = failure;
  const cause = { kind, ...(status !== undefined && { status }), ...(code !== undefined && { code }), detail };
  return { ...toldFailure(failure, saidNothing), cause };
}

function toldFailure({ kind, retryAfterS }: ModelFailure, saidNothing: boolean): TurnFailure {
  switch (kind) {
    case 'busy': {
      if (!saidNothing) break;
      const wait = retryAfterS === undefined ? {} : { retryAfterS };
      return { code: 'model_busy', message: 'The assistant is busy at the moment. Try again in a few seconds.', retryable: true, ...wait };
    }
    case 'exhausted':
      return {
        code: 'internal',
        message: 'The assistant is out of service at the moment. Trying again does not help until whoever runs it has acted.',
        retryable: false,
      };
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

export function nothingSaid(reason: RoundResult['reason']): TurnFailure {
  const said = { code: 'internal', cause: { kind: 'empty', code: reason } } as const;
  if (reason === 'length') {
    const message = 'The answer would have become too long for the model. Ask for less at once, or begin a new conversation.';
    return { ...said, message, retryable: false };
  }
  if (reason === 'filtered') {
    return {
      ...said,
      message: "The content filter of the assistant's model does not let it answer this. Ask in other words.",
      retryable: false,
    };
  }
  return { ...said, message: 'The assistant gave no answer. Try again.', retryable: true };
}
