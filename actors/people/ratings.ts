/** Thumbs and answers of `rating` blocks outside of a turn, and whose answer they are about (FEEDBACK-1, FEEDBACK-4). */
import type { Block } from '../../protocol/catalog/block.ts';
import { selectionProblem } from '../../protocol/catalog/selection.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { FeedbackRequest, RatingRequest } from '../../protocol/runtime/feedback.ts';
import { readBlockOfMessage } from '../../storage/conversations/blocks.ts';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import { readRating } from '../../storage/conversations/ratings.ts';
import { readMessagePlace } from '../../storage/conversations/transcripts.ts';
import { readAnswerSender } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Caller } from '../caller.ts';
import { OVERTAKEN, type Retries, retried } from '../retried.ts';
import { answeredPick } from './answered-pick.ts';
import { actedConversation } from './ownership.ts';
import { redactionOf } from './redaction.ts';

/** The same refusal for a missing message, another person's message and a person's own words. */
function noSuchAnswer(): Refusal {
  return new Refusal('invalid_request', 'There is no such answer for this device: send the message_id of its turn.start.', { status: 404 });
}

function conversationOfAnswer(db: Connection, messageId: string, caller: Caller): ConversationRow {
  const place = readMessagePlace(db, messageId);
  // A missing message is looked up in a missing conversation, so that the time does not tell it from another person's.
  const conversation = actedConversation(db, place?.conversationId ?? '', readAnswerSender(db, messageId), caller);
  if (place?.role !== 'assistant' || conversation === undefined) throw noSuchAnswer();
  return conversation;
}

export interface RatingServices {
  readonly storage: Storage;
  nowMs(): number;
}

/** A block is answered once and then never changes: the loser of a race finds the answer when it retries. */
const RETRIES: Retries = { max: 2, exhausted: () => new Error('a rating block kept changing') };

function refuseValue(message: string): never {
  throw new Refusal('invalid_request', `value ${message}`, { details: [{ path: 'value', message }] });
}

/** @throws Refusal 404 as for a missing message, 400 when it is no rating or its scale is smaller. */
function ratedBlock(db: Connection, body: RatingRequest): Block {
  const block = readBlockOfMessage(db, body.block_id, body.message_id);
  if (block === undefined) throw noSuchAnswer();
  if (block.block_type !== 'rating') {
    throw new Refusal('invalid_request', 'block_id names a block that is no rating.', {
      details: [{ path: 'block_id', message: 'names a block that is no rating' }],
    });
  }
  const scale = block.body.scale as number;
  if (body.value > scale) refuseValue(`must be at most the block's scale, ${scale}`);
  return block;
}

function commentOf({ storage }: RatingServices, caller: Caller, conversation: ConversationRow, body: RatingRequest) {
  const words = body.comment ?? '';
  return words.trim() === ''
    ? null
    : redactionOf(storage, caller.organisationId, conversation, { ...caller, locale: null }).redactKnown(words);
}

/** The same value again changes nothing but a missing comment. @throws Refusal `invalid_request` 404, 400 when it cannot be answered so. */
export async function answerRating(services: RatingServices, caller: Caller, body: RatingRequest): Promise<void> {
  const { storage, nowMs } = services;
  const { organisationId, appId, channel } = caller;
  const db = storage.organisation(organisationId);
  const conversation = conversationOfAnswer(db, body.message_id, caller);
  // Refuses before the comment is worked on.
  ratedBlock(db, body);
  const comment = commentOf(services, caller, conversation, body);
  await retried(RETRIES, async () => {
    const block = ratedBlock(db, body);
    const given = readRating(db, block.id);
    if (given?.value === body.value) {
      if (comment !== null) await storage.write(organisationId, 'commentRating', { blockId: block.id, comment });
      return true;
    }
    const problem = selectionProblem(block, { ids: [String(body.value)] });
    if (problem !== undefined) throw new Refusal('invalid_request', `The rating ${problem}.`);
    const done = await storage.write(organisationId, 'answerRating', {
      blockId: block.id,
      messageId: body.message_id,
      conversationId: conversation.id,
      appId,
      channel,
      value: body.value,
      comment,
      pick: answeredPick(block, [String(body.value)]),
      nowMs: nowMs(),
    });
    return done ? true : OVERTAKEN;
  });
}

export interface FeedbackServices {
  readonly storage: Storage;
  nowMs(): number;
}

/** A reason left out stays as long as the rating does; an empty one is taken back. @throws Refusal 404 `invalid_request`. */
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
