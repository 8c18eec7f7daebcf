/** What a person says with a tap: a thumb, a `rating` block, a confirmation card (FEEDBACK-1, FEEDBACK-4, CONFIRM-5, CONFIRM-13). */
import { answerRating, giveFeedback } from '../../actors/people/ratings.ts';
import { type FeedbackReply, feedbackRequest } from '../../protocol/runtime/feedback.ts';
import { confirmRequest, editRequest } from '../../protocol/runtime/invocations.ts';
import { type RatingReply, ratingRequest } from '../../protocol/runtime/ratings.ts';
import { json, type Route, runtimeRoute } from '../route.ts';
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

const CARD_WHY = 'a card is answered on the device that it was shown on';

export const invocationRoutes: readonly Route[] = [
  runtimeRoute('POST', '/v1/invocations/:id/confirm', {
    limits: writePools('confirm'),
    body: confirmRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, CARD_WHY);
      return json(await services.confirmations.confirm(caller, input.params.id ?? '', input.body));
    },
  }),
  runtimeRoute('POST', '/v1/invocations/:id/edit', {
    limits: writePools('edit'),
    body: editRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, CARD_WHY);
      return json(await services.confirmations.edit(caller, input.params.id ?? '', input.body));
    },
  }),
];
