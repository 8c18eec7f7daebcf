/** The setup interface's table of contents (service.md "Setup interface"). */
import type { Route } from '../route.ts';
import { contextRoute, readSmokeRoute, runSmokeRoute, statusRoute } from './reads.ts';
import { completeRoute, eventsRoute, failRoute, fileRoute, startRoute } from './session.ts';
import { actionsRoute, appearanceRoute, experienceRoute, knowledgeRoute, logoRoute, screensRoute } from './writes.ts';

export const setupRoutes: readonly Route[] = [
  fileRoute,
  startRoute,
  contextRoute,
  eventsRoute,
  appearanceRoute,
  logoRoute,
  experienceRoute,
  knowledgeRoute,
  actionsRoute,
  screensRoute,
  statusRoute,
  runSmokeRoute,
  readSmokeRoute,
  completeRoute,
  failRoute,
];
