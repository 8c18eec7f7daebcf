/** A conversation in the order in which it is drawn: what was said before, then turns of now. Pure. */
import type { MessageReply } from '../../../protocol/runtime/messages.ts';
import type { ConversationState } from './state.ts';
import type { TurnState } from './turn.ts';

export type ThreadItem =
  | { readonly kind: 'message'; readonly key: string; readonly message: MessageReply }
  | { readonly kind: 'turn'; readonly key: string; readonly turn: TurnState };

/** Every item with a key that stays the same while it is drawn. */
export function threadOf({ history, turns }: ConversationState): readonly ThreadItem[] {
  return [
    ...history.messages.map((message): ThreadItem => ({ kind: 'message', key: message.id, message })),
    ...turns.map((turn): ThreadItem => ({ kind: 'turn', key: turn.turnId, turn })),
  ];
}

/** Whether the assistant is at work: a turn runs or is about to, or one of its calls does. */
export function isAnswering({ turns, calls }: ConversationState): boolean {
  const isTurn = turns.some(({ phase }) => phase === 'preparing' || phase === 'opening' || phase === 'answering');
  return isTurn || calls.some(({ phase }) => phase === 'running' || phase === 'answered');
}
