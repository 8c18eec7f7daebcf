/** POST /v1/ratings (decisions §4): answers a `rating` block without opening a turn. */
import { answerRating } from '../../actors/ratings.ts';
import { type RatingReply, ratingRequest } from '../../protocol/runtime/ratings.ts';
import { defineRoute, json } from '../route.ts';
import { requireDevice } from './device.ts';
import { writePools } from './pools.ts';

export const ratingsRoute = defineRoute({
  method: 'POST',
  path: '/v1/ratings',
  caller: 'runtime',
  limits: writePools('ratings'),
  body: ratingRequest,
  async handle({ caller, body }, services) {
    await answerRating(services, requireDevice(caller, 'a block is answered on the device that it was shown on'), body);
    const reply: RatingReply = { ok: true };
    return json(reply);
  },
});
