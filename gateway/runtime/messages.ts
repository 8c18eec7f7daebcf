/** GET /v1/conversations/:id/messages (HISTORY-1): a page of what was said, to the device it was said to, and what is still open. */
import { setImmediate } from 'node:timers/promises';
import { waitingInvocations } from '../../actors/calls/pending-invocation.ts';
import { ownConversation } from '../../actors/people/ownership.ts';
import { type Redaction, redactionOf } from '../../actors/people/redaction.ts';
import { type MessageReply, type MessagesReply, messagesQuery, type OpenReply } from '../../protocol/runtime/messages.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { hasEarlierMessages, type MessagesPage, readMessages } from '../../storage/conversations/conversations.ts';
import { readOpenTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { shownAttachments } from '../../storage/uploads/uploads.ts';
import { checkQuery } from '../http/query.ts';
import { attachmentToWire } from '../http/wire.ts';
import { defineRoute, json } from '../route.ts';
import { callerOf } from './device.ts';
import { pagePools } from './pools.ts';

/** Other requests wait at most this long. */
const SLICE_MS = 5;

function messagesOf(db: Connection, conversationId: string, page: Omit<MessagesPage, 'wordless'>): MessageReply[] {
  const messages = readMessages(db, conversationId, { ...page, wordless: false });
  const attachments = shownAttachments(
    db,
    messages.map(({ id }) => id),
  );
  return messages.map(({ id, role, blocks, createdAtMs }) => {
    const attached = attachments.get(id)?.map(attachmentToWire);
    return { id, role, blocks, ...(attached === undefined ? {} : { attachments: attached }), created_at: timestamp(createdAtMs) };
  });
}

function openOf(db: Connection, conversationId: string, deviceId: string, nowMs: number): OpenReply {
  // A caller that may see the conversation may follow its turn, but only with a device id.
  const running = deviceId === '' ? undefined : readOpenTurns(db, conversationId).at(-1);
  return {
    ...(running === undefined ? {} : { turn: { turn_id: running.turnId, message_id: running.messageId, status: 'running' as const } }),
    pending: waitingInvocations(db, conversationId, nowMs),
  };
}

/** The page with personal data in place of its placeholders. A message may hold a thousand, so other requests run between two messages. */
async function restored(redaction: Redaction, reply: MessagesReply): Promise<MessagesReply> {
  const messages: MessageReply[] = [];
  let sinceMs = performance.now();
  for (const message of reply.messages) {
    messages.push(redaction.restore(message));
    if (performance.now() - sinceMs < SLICE_MS) continue;
    await setImmediate();
    sinceMs = performance.now();
  }
  return { ...reply, messages, open: redaction.restore(reply.open) };
}

export const messagesRoute = defineRoute({
  method: 'GET',
  path: '/v1/conversations/:id/messages',
  caller: 'runtime',
  limits: pagePools('messages'),
  handle(input, services) {
    const { caller, params, query } = input;
    const { storage, nowMs } = services;
    const { limit, before } = checkQuery(messagesQuery, query);
    const id = params.id ?? '';
    const db = storage.organisation(caller.organisationId);
    const asking = callerOf(input, services);
    const conversation = ownConversation(db, id, asking);
    // One answer for a missing conversation and for another caller's, so that requests cannot probe which ids exist (HISTORY-3).
    if (conversation === undefined) {
      const nothing: MessagesReply = { conversation_id: id, messages: [], has_more: false, open: { pending: [] } };
      return json(nothing);
    }
    const messages = messagesOf(db, id, { limit, before });
    const [first] = messages;
    const reply: MessagesReply = {
      conversation_id: id,
      messages,
      has_more: first !== undefined && hasEarlierMessages(db, id, first.id),
      open: openOf(db, id, caller.deviceId, nowMs()),
    };
    // Messages are stored with placeholders; only the conversation's own device gets the personal data (PRIVACY-9). Callers without a
    // device share the empty one, so an anonymous conversation is shown to them with its placeholders.
    if (caller.deviceId === '' && conversation.endUserId === null) return json(reply);
    return restored(redactionOf(storage, caller.organisationId, conversation), reply).then(json);
  },
});
