/** POST /v1/feedback (FEEDBACK-1): a thumb up or down under an answer, one for each device. */
import { giveFeedback } from '../../actors/people/feedback.ts';
import { type FeedbackReply, feedbackRequest } from '../../protocol/runtime/feedback.ts';
import { defineRoute, json } from '../route.ts';
import { actingCaller } from './device.ts';
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
