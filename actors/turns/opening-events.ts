/** What a turn's first step says; it may end at once, on calls that wait since an earlier turn. */
import type { ChatTurnEffect } from '../../machines/chat-turn.ts';
import type { StreamEvent, TurnUsage } from '../../protocol/runtime/stream-events.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import { pendingOf } from '../calls/pending-call.ts';

export interface OpeningSaid {
  readonly conversationId: string;
  readonly messageId: string;
  readonly model: string;
  readonly requestId: string;
  /** Of the calls that the turn brings a person's agreement to. */
  readonly receipts: NonNullable<Extract<StreamEvent, { type: 'turn.start' }>['receipts']>;
  /** Calls that still wait. */
  readonly left: readonly InvocationRow[];
  readonly usage: TurnUsage | undefined;
}

/** In the order of the effects, from seq 0 of the attempt on. */
export function openingEvents(effects: readonly ChatTurnEffect[], said: OpeningSaid): StreamEvent[] {
  const { conversationId, messageId, model, requestId, receipts, left, usage } = said;
  return effects.flatMap((effect): StreamEvent[] => {
    switch (effect.type) {
      case 'sendStart':
        return [
          {
            type: 'turn.start',
            conversation_id: conversationId,
            message_id: messageId,
            model,
            request_id: requestId,
            ...(receipts.length === 0 ? {} : { receipts }),
          },
        ];
      case 'endTurn':
        return [
          {
            type: 'turn.end',
            status: effect.status,
            pending: left.map(pendingOf),
            billable: false,
            ...(usage === undefined ? {} : { usage }),
          },
        ];
      default:
        return [];
    }
  });
}
