/** The setup interface's table of contents (docs/specification/setup.md). */
import type { Route } from '../route.ts';
import { contextRoute, readProposalRoute, readSmokeRoute, runSmokeRoute, statusRoute } from './reads.ts';
import { completeRoute, eventsRoute, failRoute, fileRoute, startRoute } from './session.ts';
import { setupWrites } from './writes.ts';

export const setupRoutes: readonly Route[] = [
  fileRoute,
  startRoute,
  contextRoute,
  eventsRoute,
  setupWrites.appearance,
  setupWrites.logo,
  setupWrites.experience,
  setupWrites.knowledge,
  setupWrites.actions,
  setupWrites.screens,
  statusRoute,
  runSmokeRoute,
  readSmokeRoute,
  readProposalRoute,
  completeRoute,
  failRoute,
];
