import { holderOf, ownConversation } from '../../actors/people/ownership.ts';
import { redactionOf } from '../../actors/people/redaction.ts';
import { type ConversationsReply, conversationsQuery, conversationTitle } from '../../protocol/runtime/conversations.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { listOwnConversations, type OwnConversation } from '../../storage/conversations/own-conversations.ts';
import { checkQuery } from '../http/body.ts';
import { defineRoute, json } from '../route.ts';
import type { Services } from '../services.ts';
import { callerOf, requireDevice } from './identity.ts';
import { pagePools } from './pools.ts';

function titleOf(organisationId: string, conversation: OwnConversation, { storage }: Services): string {
  return redactionOf(storage, organisationId, conversation).restore(conversationTitle(conversation.firstWords));
}

export const conversationsRoute = defineRoute({
  method: 'GET',
  path: '/v1/conversations',
  caller: 'runtime',
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
