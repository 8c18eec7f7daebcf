/** The events that effects of a turn's steps become, blocks apart: the start, calls for the client, errors and notices, the end. */
import type { RoundResult } from '../../assistant/models/model.ts';
import type { ChatTurnEffect } from '../../machines/chat-turn.ts';
import type { PendingInvocation, StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { type TurnFacts, usageOf } from './facts.ts';
import { errorEvent } from './failures.ts';

/** What a turn's row has of its start. */
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
  return effects.flatMap((effect): readonly StreamEvent[] => {
    switch (effect.type) {
      case 'sendStart':
        return says.start === undefined ? [] : [says.start()];
      case 'executeActions':
        return says.executions?.() ?? [];
      case 'sendError':
        return [errorEvent(effect.failure)];
      case 'endTurn':
        return [says.end(effect, isNotice)];
      default:
        return [];
    }
  });
}

/** Why an answer is not whole, as `turn.end` says it. */
function short({ status, stopped }: EndTurn, reason: RoundResult['reason']): { stopped?: true; truncated?: true; filtered?: true } {
  if (stopped) return { stopped: true };
  if (status !== 'completed') return {};
  if (reason === 'length') return { truncated: true };
  return reason === 'filtered' ? { filtered: true } : {};
}

/** How a turn ended: calls that the client or a person has to answer, and how the model's last round ended. */
interface Outcome {
  readonly pending: readonly PendingInvocation[];
  readonly reason: RoundResult['reason'];
  readonly isTokenRefused: boolean;
}

/** `turn.end` of a turn that ran. A turn that ends with a notice is completed and free, like one that is refused with a notice. */
export function endEvent(effect: EndTurn, isNotice: boolean, turn: TurnFacts, { pending, reason, isTokenRefused }: Outcome): StreamEvent {
  const { status } = effect;
  const usage = usageOf(turn);
  return {
    type: 'turn.end',
    status: isNotice ? 'completed' : status,
    ...(status.startsWith('awaiting') ? { pending } : {}),
    billable: turn.command.caller.channel === 'live' && status !== 'error',
    ...short(effect, reason),
    ...(isTokenRefused ? { user_token_refused: true } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
}
