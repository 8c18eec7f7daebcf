/** POST /v1/feedback (service.md): a thumb up or down under an answer, one for each device. */
import { giveFeedback } from '../../actors/feedback.ts';
import { type FeedbackReply, feedbackRequest } from '../../protocol/runtime/feedback.ts';
import { defineRoute, json } from '../route.ts';
import { requireDevice } from './device.ts';
import { writePools } from './pools.ts';

export const feedbackRoute = defineRoute({
  method: 'POST',
  path: '/v1/feedback',
  caller: 'runtime',
  limits: writePools('feedback'),
  body: feedbackRequest,
  async handle({ caller, body }, services) {
    await giveFeedback(services, requireDevice(caller, 'an answer has one rating for each device'), body);
    const reply: FeedbackReply = { ok: true };
    return json(reply);
  },
});
