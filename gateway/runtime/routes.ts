/** The runtime interface, endpoint by endpoint. */
import * as v from 'valibot';
import { perMinute } from '../rate-limit.ts';
import { type Route, runtimeRoute } from '../route.ts';
import { chatRoutes } from './chat.ts';
import { configRoute } from './config.ts';
import { feedbackRoute, ratingsRoute } from './feedback.ts';
import { identifyRoute } from './identify.ts';
import { invocationRoutes } from './invocations.ts';
import { logoRoute } from './logo.ts';
import { manifestRoute } from './manifest.ts';
import { conversationsRoute, eraseConversationRoute, messagesRoute } from './messages.ts';
import { pairingClaimRoute } from './pairings.ts';
import { addressPool } from './pools.ts';
import { schemasRoute, typesRoute } from './schemas.ts';
import { uploadsRoute } from './uploads.ts';

/** Batches come every few seconds at most. */
const BATCHES_PER_MINUTE_PER_DEVICE = 600;
/** Nothing is kept of them; an office full of people sends some hundreds. */
const BATCHES_PER_MINUTE_PER_ADDRESS = 3_000;

export const telemetryRoute = runtimeRoute('POST', '/v1/events', {
  limits: [perMinute('events', 'device', BATCHES_PER_MINUTE_PER_DEVICE), addressPool('events', BATCHES_PER_MINUTE_PER_ADDRESS)],
  body: v.unknown(),
  handle: () => ({ kind: 'empty', status: 204 }),
});

export const runtimeRoutes: readonly Route[] = [
  ...[...chatRoutes, ...invocationRoutes, feedbackRoute, ratingsRoute, conversationsRoute, messagesRoute, eraseConversationRoute],
  ...[configRoute, logoRoute, manifestRoute, identifyRoute, pairingClaimRoute, uploadsRoute, telemetryRoute],
  ...[schemasRoute, typesRoute],
];
