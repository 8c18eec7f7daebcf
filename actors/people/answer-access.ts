/** Access to an answer for feedback and ratings: which conversation it is in, and whether the caller may act on it (PERSON-13, PERSON-17). */

import { Refusal } from '../../protocol/errors.ts';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import { readMessagePlace } from '../../storage/conversations/transcripts.ts';
import { readAnswerSender } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Caller } from '../caller.ts';
import { actedConversation } from './ownership.ts';

/** The same refusal for a missing message, another person's message and a person's own words. */
export function noSuchAnswer(): Refusal {
  return new Refusal('invalid_request', 'There is no such answer for this device: send the message_id of its turn.start.', { status: 404 });
}

/** The conversation that the answer `messageId` was given in. @throws Refusal 404 `invalid_request`, see noSuchAnswer. */
export function conversationOfAnswer(db: Connection, messageId: string, caller: Caller): ConversationRow {
  const place = readMessagePlace(db, messageId);
  // A missing message is looked up in a missing conversation, so that the time does not tell it from another person's.
  const conversation = actedConversation(db, place?.conversationId ?? '', readAnswerSender(db, messageId), caller);
  if (place?.role !== 'assistant' || conversation === undefined) throw noSuchAnswer();
  return conversation;
}
