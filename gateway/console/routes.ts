/** The console interface's table of contents (docs/specification/console.md). */
import { applyWrite } from '../../actors/configuration/writes.ts';
import { json, type Route } from '../route.ts';
import { writeRoutes } from '../write-routes.ts';
import { actionRoutes } from './actions.ts';
import { requireApp } from './app-read.ts';
import { appRoutes } from './apps.ts';
import { listCellsRoute } from './cells.ts';
import { conversationRoutes } from './conversations.ts';
import { draftRoutes } from './drafts.ts';
import { endUserRoutes, listFeedbackRoute } from './end-users.ts';
import { keyRoutes } from './keys.ts';
import { listKnowledgeRoute, searchKnowledgeRoute } from './knowledge.ts';
import { machineRoutes } from './machines.ts';
import { moveRoutes } from './moves.ts';
import { nodeRoutes } from './nodes.ts';
import { signInRoutes } from './operator-session.ts';
import { organisationRoutes } from './organisations.ts';
import { overviewRoutes } from './overview.ts';
import { pairingRoutes } from './pairings.ts';
import { readLogoRoute, readProposedLogoRoute } from './pictures.ts';
import { proposalRoutes } from './proposals.ts';
import { listScreensRoute, readManifestRoute } from './screens.ts';
import { sessionRoutes } from './setup-sessions.ts';
import { shellRoutes } from './shell.ts';
import { traceRoutes } from './traces.ts';

/** By kind. 422 without an error code: every item has its own error (SETUP-30). */
const consoleWrites = writeRoutes({
  prefix: '/console/api/apps/:app',
  caller: 'operator',
  async perform({ params }, write, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    const written = await applyWrite(services.writes, { organisationId, appId, origin: 'console' }, write);
    await services.setup.settled(organisationId, appId);
    return json(written.reply, written.savedNothing ? 422 : 200);
  },
});

export const consoleRoutes: readonly Route[] = [
  ...signInRoutes,
  ...organisationRoutes,
  ...appRoutes,
  ...overviewRoutes,
  ...keyRoutes,
  ...endUserRoutes,
  ...draftRoutes,
  ...Object.values(consoleWrites),
  readLogoRoute,
  listKnowledgeRoute,
  searchKnowledgeRoute,
  ...actionRoutes,
  listScreensRoute,
  readManifestRoute,
  ...sessionRoutes,
  ...proposalRoutes,
  readProposedLogoRoute,
  ...pairingRoutes,
  ...conversationRoutes,
  listFeedbackRoute,
  ...traceRoutes,
  listCellsRoute,
  ...moveRoutes,
  ...nodeRoutes,
  ...machineRoutes,
  ...shellRoutes,
];
