/** The body of POST /v1/feedback (FEEDBACK-1), and its answer. */
import * as v from 'valibot';
import { FEEDBACK_REASON_MAX_CHARS, ID_MAX_CHARS } from '../limits.ts';
import { text } from '../schema/text.ts';
import { openObject } from './shapes.ts';
import { answeringUser } from './signed-user.ts';

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
