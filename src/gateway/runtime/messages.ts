/** GET /v1/conversations/:id/messages (service.md): a page of what was said, to the device it was said to. */
import type { MessagesReply } from '../../protocol/runtime/messages.ts';
import { messagesQuery } from '../../protocol/runtime/messages.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type ConversationRow, readConversation, readMessages } from '../../storage/conversations.ts';
import { checkQuery } from '../query.ts';
import { perMinute } from '../rate-limit.ts';
import { defineRoute, json, type RuntimeCaller } from '../route.ts';

/** A page is read on the event loop; ten a second is more than any person scrolls. */
const PAGES_PER_MINUTE_PER_DEVICE = 600;

function isCallers(conversation: ConversationRow | undefined, { app, channel, deviceId }: RuntimeCaller): boolean {
  return conversation?.appId === app.id && conversation.channel === channel && conversation.deviceId === deviceId;
}

export const messagesRoute = defineRoute({
  method: 'GET',
  path: '/v1/conversations/:id/messages',
  caller: 'runtime',
  limits: [perMinute('messages', 'device', PAGES_PER_MINUTE_PER_DEVICE)],
  body: null,
  handle({ caller, params, query }, { storage }) {
    const { limit, before } = checkQuery(messagesQuery, query);
    const id = params.id ?? '';
    const db = storage.organisation(caller.organisationId);
    // Missing or a stranger's: one answer for both, so that nobody learns which ids exist (decisions §4).
    const page = isCallers(readConversation(db, id), caller) ? readMessages(db, id, { limit, before, wordless: false }) : [];
    const reply: MessagesReply = {
      conversation_id: id,
      messages: page.map(({ id, role, blocks, createdAtMs }) => ({ id, role, blocks, created_at: timestamp(createdAtMs) })),
    };
    return json(reply);
  },
});
