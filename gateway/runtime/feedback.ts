/** POST /v1/feedback and /v1/ratings (FEEDBACK-1, FEEDBACK-4): a thumb under an answer, one for each device; a `rating` block answered without a turn. */
import { answerRating, giveFeedback } from '../../actors/people/ratings.ts';
import { type FeedbackReply, feedbackRequest } from '../../protocol/runtime/feedback.ts';
import { type RatingReply, ratingRequest } from '../../protocol/runtime/ratings.ts';
import { defineRoute, json } from '../route.ts';
import { actingCaller } from './identity.ts';
import { writePools } from './pools.ts';

export const feedbackRoute = defineRoute({
  method: 'POST',
  path: '/v1/feedback',
  caller: 'runtime',
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

export const ratingsRoute = defineRoute({
  method: 'POST',
  path: '/v1/ratings',
  caller: 'runtime',
  limits: writePools('ratings'),
  body: ratingRequest,
  async handle(input, services) {
    await answerRating(services, actingCaller(input, services, WHY), input.body);
    const reply: RatingReply = { ok: true };
    return json(reply);
  },
});
