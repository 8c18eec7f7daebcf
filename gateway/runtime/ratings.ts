/** POST /v1/ratings (FEEDBACK-4): answers a `rating` block without opening a turn. */
import { answerRating } from '../../actors/people/ratings.ts';
import { type RatingReply, ratingRequest } from '../../protocol/runtime/feedback.ts';
import { defineRoute, json } from '../route.ts';
import { actingCaller } from './device.ts';
import { writePools } from './pools.ts';

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
