/** What people want of blocks, done with the conversation that is open. Nothing here throws. */

import type { Assistant } from '../client/assistant.ts';
import type { ConversationState } from '../client/conversation/state.ts';
import type { BlockAsks } from './blocks/block-view.ts';
import type { ScreenHandler, WidgetEvent } from './options.ts';

export interface WidgetAsks extends BlockAsks {
  /** A thumb under an answer. Rejects where it could not be noted. */
  thumb(messageId: string, rating: 1 | -1): Promise<void>;
  tell(event: WidgetEvent): void;
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
  openLink: (address: string) => unknown = () => false,
): WidgetAsks {
  const say: WidgetAsks['say'] = (text) => tried(() => assistant.conversation.say(text));
  return {
    say,
    tell,
    async thumb(messageId, rating) {
      await assistant.conversation.opinions.thumb(messageId, rating);
      tell({ type: 'feedback', message_id: messageId, rating });
    },
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
      if (messageId === undefined) return;
      conversation.opinions.rate(messageId, block.id, value, comment).then(
        () => tell({ type: 'rated', block_id: block.id, value }),
        () => {},
      );
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
          tell({ type: 'screen_opened', route });
        } catch (error) {
          reportError(error);
        }
    },
    openLink(address) {
      tell({ type: 'link_opened', address });
      try {
        return openLink(address) === true;
      } catch (error) {
        reportError(error);
        return false;
      }
    },
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
