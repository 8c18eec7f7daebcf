/** What a device thinks of an answer: thumbs, and why (FEEDBACK-1). */

import type { FeedbackRequest } from '../../protocol/runtime/feedback.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Caller } from '../caller.ts';
import { conversationOfAnswer, noSuchAnswer } from './answer-access.ts';
import { redactionOf } from './redaction.ts';

export interface FeedbackServices {
  readonly storage: Storage;
  nowMs(): number;
}

/**
 * Notes the rating of (message, device), or changes it. A reason that is left out stays as long as the rating does: one
 * given for a thumb down says nothing of a thumb up. An empty one is taken back.
 * @throws Refusal 404 `invalid_request` when the message is no answer of this caller's.
 */
export async function giveFeedback({ storage, nowMs }: FeedbackServices, caller: Caller, body: FeedbackRequest): Promise<void> {
  const { organisationId, appId, channel, deviceId } = caller;
  const conversation = conversationOfAnswer(storage.organisation(organisationId), body.message_id, caller);
  const words = body.reason ?? undefined;
  const given = await storage.write(organisationId, 'giveFeedback', {
    messageId: body.message_id,
    conversationId: conversation.id,
    deviceId,
    appId,
    channel,
    rating: body.rating,
    reason:
      words === undefined
        ? undefined
        : words.trim() === ''
          ? null
          : redactionOf(storage, organisationId, conversation, { ...caller, locale: null }).redactKnown(words),
    nowMs: nowMs(),
  });
  if (!given) throw noSuchAnswer();
}
