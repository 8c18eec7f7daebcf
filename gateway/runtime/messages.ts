/** GET /v1/conversations and …/:id/messages (HISTORY-1): the caller's own, a page at a time, and what is still open; DELETE of one (HISTORY-10). */
import { setImmediate } from 'node:timers/promises';
import { waitingInvocations } from '../../actors/calls/pending-invocation.ts';
import { actedConversation, holderOf, ownConversation } from '../../actors/people/ownership.ts';
import { type Redaction, redactionOf } from '../../actors/people/redaction.ts';
import { type ConversationsReply, conversationsQuery, conversationTitle } from '../../protocol/runtime/conversations.ts';
import { type MessageReply, type MessagesReply, messagesQuery, type OpenReply } from '../../protocol/runtime/messages.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { hasEarlierMessages, type MessagesPage, readMessages } from '../../storage/conversations/conversations.ts';
import { listOwnConversations, type OwnConversation } from '../../storage/conversations/own-conversations.ts';
import { readOpenTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { deleteUploadFiles } from '../../storage/uploads/upload-files.ts';
import { shownAttachments } from '../../storage/uploads/uploads.ts';
import { checkQuery } from '../http/body.ts';
import { attachmentToWire } from '../http/wire.ts';
import { json, runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { actingCaller, callerOf, requireDevice } from './identity.ts';
import { pagePools, writePools } from './pools.ts';

function titleOf(organisationId: string, conversation: OwnConversation, { storage }: Services): string {
  return redactionOf(storage, organisationId, conversation).restore(conversationTitle(conversation.firstWords));
}

export const conversationsRoute = runtimeRoute('GET', '/v1/conversations', {
  limits: pagePools('conversations'),
  handle(input, services) {
    const { limit, before } = checkQuery(conversationsQuery, input.query);
    const caller = callerOf(input, services);
    if (caller.person === null)
      requireDevice(input.caller, 'conversations are listed to the device that held them, or to the person who signs');
    const { organisationId } = caller;
    const db = services.storage.organisation(organisationId);
    const from = before === undefined ? undefined : ownConversation(db, before, caller);
    // One more tells whether there are more; what is not the caller's is as if it were not there.
    const found = before !== undefined && from === undefined ? [] : listOwnConversations(db, holderOf(db, caller), from, limit + 1);
    const reply: ConversationsReply = {
      conversations: found.slice(0, limit).map((conversation) => ({
        conversation_id: conversation.id,
        title: titleOf(organisationId, conversation, services),
        created_at: timestamp(conversation.createdAtMs),
        updated_at: timestamp(conversation.updatedAtMs),
      })),
      has_more: found.length > limit,
    };
    return json(reply);
  },
});

export const eraseConversationRoute = runtimeRoute('DELETE', '/v1/conversations/:id', {
  limits: writePools('erasures'),
  async handle(input, services) {
    const { storage } = services;
    const { organisationId } = input.caller;
    const id = input.params.id ?? '';
    const caller = actingCaller(input, services, 'a conversation is deleted on the device that held it, or by the person who signs');
    if (actedConversation(storage.organisation(organisationId), id, undefined, caller) !== undefined) {
      const uploadIds = await storage.write(organisationId, 'eraseConversation', { id });
      await deleteUploadFiles(storage.layout, organisationId, uploadIds);
    }
    // One answer for a missing conversation and for another caller's (HISTORY-3).
    return { kind: 'empty', status: 204 };
  },
});

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

export const messagesRoute = runtimeRoute('GET', '/v1/conversations/:id/messages', {
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
