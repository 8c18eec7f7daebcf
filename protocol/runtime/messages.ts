/** GET /v1/conversations/:id/messages (HISTORY-1; `before` pages back). */
import * as v from 'valibot';
import type { Block } from '../catalog/block.ts';
import { ID_MAX_CHARS, MESSAGES_PAGE_DEFAULT, MESSAGES_PAGE_MAX } from '../limits.ts';
import { text } from '../schema/text.ts';
import type { PendingInvocation } from './stream-events.ts';

export const messagesQuery = v.object({
  /** Above the maximum it is capped, not refused. */
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^0*[1-9][0-9]{0,8}$/, 'must be a whole number from 1'),
      v.transform((digits) => Math.min(Number(digits), MESSAGES_PAGE_MAX)),
    ),
    String(MESSAGES_PAGE_DEFAULT),
  ),
  before: v.optional(text(ID_MAX_CHARS, 1)),
});

export interface AttachmentReply {
  readonly upload_id: string;
  readonly name: string;
  readonly media_type: string;
  readonly size: number;
}

export interface MessageReply {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Block[];
  /** There when the person attached something. */
  readonly attachments?: readonly AttachmentReply[];
  readonly created_at: string;
}

/** What an app that was restarted goes on with. */
export interface OpenReply {
  /** The turn that runs: GET /v1/chat/:turn_id follows it. */
  readonly turn?: { readonly turn_id: string; readonly message_id: string; readonly status: 'running' };
  /** Calls that can still be answered, as `turn.end.pending`, oldest first; `status` says what each waits for. */
  readonly pending: readonly (PendingInvocation & { readonly status: 'dispatched' | 'pending' | 'confirmed' })[];
}

export interface MessagesReply {
  readonly conversation_id: string;
  /** Oldest first. */
  readonly messages: readonly MessageReply[];
  /** Whether `before` the first of them there are more. */
  readonly has_more: boolean;
  readonly open: OpenReply;
}
