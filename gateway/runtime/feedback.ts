/** POST /v1/feedback and /v1/ratings: what a person thinks of an answer, by a thumb or a `rating` block (FEEDBACK-1, FEEDBACK-4). */
import { answerRating, giveFeedback } from '../../actors/people/ratings.ts';
import { type FeedbackReply, feedbackRequest, type RatingReply, ratingRequest } from '../../protocol/runtime/feedback.ts';
import { json, runtimeRoute } from '../route.ts';
import { actingCaller } from './identity.ts';
import { writePools } from './pools.ts';

export const feedbackRoute = runtimeRoute('POST', '/v1/feedback', {
  limits: writePools('feedback'),
  body: feedbackRequest,
  async handle(input, services) {
    await giveFeedback(services, actingCaller(input, services, 'an answer has one rating for each device'), input.body);
    const reply: FeedbackReply = { ok: true };
    return json(reply);
  },
});

/** Why a device is required; part of the error message. */
const WHY = 'a block is answered on the device that it was shown on, or by the person who signs';

export const ratingsRoute = runtimeRoute('POST', '/v1/ratings', {
  limits: writePools('ratings'),
  body: ratingRequest,
  async handle(input, services) {
    await answerRating(services, actingCaller(input, services, WHY), input.body);
    const reply: RatingReply = { ok: true };
    return json(reply);
  },
});
