/** GET /v1/conversations: what a device, or a signed-in person, has talked about. */
import * as v from 'valibot';
import { clipWhole } from '../placeholder.ts';
import { messagesQuery } from './messages.ts';

/** As the pages of messages; `before` is a conversation's id. */
export const conversationsQuery = v.object({ limit: messagesQuery.entries.limit, before: messagesQuery.entries.before });

/** As much as a list shows in one line. */
export const CONVERSATION_TITLE_MAX_CHARS = 80;

/** The first line of what was said first, cut where no placeholder stands; '' where that was no text. */
export function conversationTitle(firstWords: string): string {
  const [line = ''] = firstWords.trim().split('\n', 1);
  return clipWhole(line.trim(), CONVERSATION_TITLE_MAX_CHARS);
}

export interface ConversationReply {
  readonly conversation_id: string;
  /** The first line of what the person said first. */
  readonly title: string;
  readonly created_at: string;
  /** When something was last said or done in it. */
  readonly updated_at: string;
}

export interface ConversationsReply {
  readonly conversations: readonly ConversationReply[];
  /** Whether `before` the last of them there are more. */
  readonly has_more: boolean;
}
