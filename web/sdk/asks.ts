/** What people want of blocks, done with the conversation that is open. Nothing here throws. */

import type { Assistant } from '../client/assistant.ts';
import type { ConversationState } from '../client/conversation/state.ts';
import type { BlockAsks } from './blocks/block-view.ts';
import type { ScreenHandler, WidgetEvent } from './options.ts';

export interface WidgetAsks extends BlockAsks {
  /** False: it is not sent, because too much waits. */
  say(text: string): boolean;
}

/** Below this width the panel fills the screen, so that a screen of the app is seen only once it is closed. */
const NARROW = '(max-width: 480px)';

function findBlockMessage({ history, turns }: ConversationState, blockId: string): string | undefined {
  const told = history.messages.find(({ blocks }) => blocks.some(({ id }) => id === blockId));
  return told?.id ?? turns.find(({ blocks }) => blocks.some(({ id }) => id === blockId))?.messageId;
}

/** What was sent waits in the thread with its failure; what could not be sent at all changed nothing. */
function tried(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

export function asksOf(
  assistant: Assistant,
  screens: ReadonlyMap<string, ScreenHandler>,
  tell: (event: WidgetEvent) => void,
  close: () => void,
): WidgetAsks {
  const say: WidgetAsks['say'] = (text) => tried(() => assistant.conversation.say(text));
  return {
    say,
    choose(block, ids, words, otherText) {
      const selection = { block_id: block.id, ids: [...ids], ...(otherText === undefined ? {} : { other_text: otherText }) };
      tried(() => assistant.conversation.say(words, { selection }));
    },
    submit(block, values) {
      tried(() => assistant.conversation.submit(block.id, { ...values }));
    },
    rate(block, value, comment) {
      const { conversation } = assistant;
      const messageId = findBlockMessage(conversation.store.get().context, block.id);
      // A rating that was not noted leaves the block open; the log says why.
      if (messageId !== undefined) conversation.opinions.rate(messageId, block.id, value, comment).catch(() => {});
    },
    confirm: (id, typed) => assistant.conversation.confirm(id, typed),
    decline: (id) => assistant.conversation.decline(id),
    edit: (id, values) => assistant.conversation.edit(id, values),
    openScreen(route, params) {
      if (matchMedia(NARROW).matches) close();
      const open = screens.get(route);
      if (open === undefined) tell({ type: 'screen', route, params });
      else
        try {
          open(params);
        } catch (error) {
          reportError(error);
        }
    },
    openLink: () => false,
    async copy(text) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch {
        return false;
      }
    },
  };
}
