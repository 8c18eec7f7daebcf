/** The answer that a block belongs to. Pure. */
import type { ConversationState } from '../../client/conversation/state.ts';

/** Id of the message; undefined of a block that is not there, or whose message has no id yet. */
export function findBlockMessage({ history, turns }: ConversationState, blockId: string): string | undefined {
  const told = history.messages.find(({ blocks }) => blocks.some(({ id }) => id === blockId));
  return told?.id ?? turns.find(({ blocks }) => blocks.some(({ id }) => id === blockId))?.messageId;
}
