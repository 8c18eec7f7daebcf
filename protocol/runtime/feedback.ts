/** The bodies of POST /v1/feedback and POST /v1/ratings (FEEDBACK-1, FEEDBACK-4), and their answers. */
import * as v from 'valibot';
import { FEEDBACK_REASON_MAX_CHARS, ID_MAX_CHARS, RATING_COMMENT_MAX_CHARS, RATING_VALUE_MAX } from '../limits.ts';
import { text } from '../schema/text.ts';
import { openObject } from './shapes.ts';
import { answeringUser } from './signed-user.ts';

const OUT_OF_RANGE = `must be a whole number from 1 to ${RATING_VALUE_MAX}`;

export const ratingRequest = openObject({
  message_id: text(ID_MAX_CHARS, 1),
  block_id: text(ID_MAX_CHARS, 1),
  /** The block's scale may be smaller. */
  value: v.pipe(v.number(OUT_OF_RANGE), v.integer(OUT_OF_RANGE), v.minValue(1, OUT_OF_RANGE), v.maxValue(RATING_VALUE_MAX, OUT_OF_RANGE)),
  /** Null and empty count as left out. */
  comment: v.optional(v.nullable(text(RATING_COMMENT_MAX_CHARS))),
  user: answeringUser,
});
export type RatingRequest = v.InferOutput<typeof ratingRequest>;

export interface RatingReply {
  readonly ok: true;
}

export const feedbackRequest = openObject({
  message_id: text(ID_MAX_CHARS, 1),
  rating: v.picklist([1, -1], 'must be 1 or -1'),
  /** Absent or null: the one given before stays as long as the rating does. Empty: taken back. */
  reason: v.optional(v.nullable(text(FEEDBACK_REASON_MAX_CHARS))),
  user: answeringUser,
});
export type FeedbackRequest = v.InferOutput<typeof feedbackRequest>;

export interface FeedbackReply {
  readonly ok: true;
}
