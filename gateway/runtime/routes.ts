import type { Route } from '../route.ts';
import { chatRoutes } from './chat.ts';
import { configRoute } from './config.ts';
import { conversationsRoute } from './conversations.ts';
import { feedbackRoute, ratingsRoute } from './feedback.ts';
import { identifyRoute } from './identify.ts';
import { invocationRoutes } from './invocations.ts';
import { logoRoute } from './logo.ts';
import { manifestRoute } from './manifest.ts';
import { messagesRoute } from './messages.ts';
import { pairingClaimRoute } from './pairings.ts';
import { schemasRoute, typesRoute } from './schemas.ts';
import { telemetryRoute } from './telemetry.ts';
import { uploadsRoute } from './uploads.ts';

export const runtimeRoutes: readonly Route[] = [
  ...chatRoutes, //   POST /v1/chat and what belongs to a turn
  configRoute, //     GET  /v1/apps/config
  identifyRoute, //   POST /v1/identify
  ...invocationRoutes, // POST /v1/invocations/:id/confirm and …/edit
  manifestRoute, //   POST /v1/apps/manifest
  conversationsRoute, // GET /v1/conversations
  messagesRoute, //   GET  /v1/conversations/:id/messages
  schemasRoute, //    GET  /v1/schemas
  typesRoute, //      GET  /v1/schemas.d.ts
  feedbackRoute, //   POST /v1/feedback
  ratingsRoute, //    POST /v1/ratings
  pairingClaimRoute, // POST /v1/pairings/claim
  telemetryRoute, //  POST /v1/events
  uploadsRoute, //    POST /v1/uploads
  logoRoute, //       GET  /v1/apps/logo
];
