/** The runtime interface, endpoint by endpoint (service.md "Runtime interface"). */
import type { Route } from '../route.ts';
import { chatRoutes } from './chat.ts';
import { configRoute } from './config.ts';
import { manifestRoute } from './manifest.ts';
import { messagesRoute } from './messages.ts';
import { telemetryRoute } from './telemetry.ts';

export const runtimeRoutes: readonly Route[] = [
  ...chatRoutes, //   POST /v1/chat and what belongs to a turn
  configRoute, //     GET  /v1/apps/config
  manifestRoute, //   POST /v1/apps/manifest
  messagesRoute, //   GET  /v1/conversations/:id/messages
  telemetryRoute, //  POST /v1/events
];
