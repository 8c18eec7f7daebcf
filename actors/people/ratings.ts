/** The answer of a `rating` block outside of a turn (FEEDBACK-4). */

import type { Block } from '../../protocol/catalog/block.ts';
import { selectionProblem } from '../../protocol/catalog/selection.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { RatingRequest } from '../../protocol/runtime/feedback.ts';
import { readBlockOfMessage } from '../../storage/conversations/blocks.ts';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import { readRating } from '../../storage/conversations/ratings.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Caller } from '../caller.ts';
import { OVERTAKEN, type Retries, retried } from '../retried.ts';
import { conversationOfAnswer, noSuchAnswer } from './answer-access.ts';
import { answeredPick } from './answered-pick.ts';
import { redactionOf } from './redaction.ts';

export interface RatingServices {
  readonly storage: Storage;
  nowMs(): number;
}

/** A block is answered once and then never changes: the loser of a race finds the answer when it retries. */
const RETRIES: Retries = { max: 2, exhausted: () => new Error('a rating block kept changing') };

function refuseValue(message: string): never {
  throw new Refusal('invalid_request', `value ${message}`, { details: [{ path: 'value', message }] });
}

/** The block of that message. @throws Refusal 404 as for a missing message, 400 when it is no rating or its scale is smaller. */
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

/** The comment as it is stored; null for none. */
function commentOf({ storage }: RatingServices, caller: Caller, conversation: ConversationRow, body: RatingRequest) {
  const words = body.comment ?? '';
  return words.trim() === ''
    ? null
    : redactionOf(storage, caller.organisationId, conversation, { ...caller, locale: null }).redactKnown(words);
}

/**
 * Answers the block: its Pick and the rating in one write. The same value again is a retry and changes nothing, except
 * that a comment is added where there was none.
 * @throws Refusal `invalid_request`: 404 when the message is no answer of this caller's or the block not of that message,
 * 400 when the block is no rating, its scale is smaller, or it was answered otherwise or replaced.
 */
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
