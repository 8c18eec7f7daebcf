import * as v from 'valibot';
import { perMinute } from '../rate-limit.ts';
import { defineRoute } from '../route.ts';
import { addressPool } from './pools.ts';

/** Batches come every few seconds at most. */
const BATCHES_PER_MINUTE_PER_DEVICE = 600;
/** Nothing is kept of them; an office full of people sends some hundreds. */
const BATCHES_PER_MINUTE_PER_ADDRESS = 3_000;

export const telemetryRoute = defineRoute({
  method: 'POST',
  path: '/v1/events',
  caller: 'runtime',
  limits: [perMinute('events', 'device', BATCHES_PER_MINUTE_PER_DEVICE), addressPool('events', BATCHES_PER_MINUTE_PER_ADDRESS)],
  body: v.unknown(),
  handle: () => ({ kind: 'empty', status: 204 }),
});
