/** The console interface's table of contents (docs/specification/console.md). */
import type { Route } from '../route.ts';
import { callActionRoute, deleteActionKeyRoute, listActionsRoute, putActionKeyRoute } from './actions.ts';
import { actorRoutes } from './actors.ts';
import { createAppRoute, deleteAppRoute, goLiveRoute, listAppsRoute, patchAppRoute, readAppRoute } from './apps.ts';
import { listCellsRoute } from './cells.ts';
import { listConversationsRoute, readConversationRoute } from './conversations.ts';
import { previewAppearanceRoute, publishRoute, readAppearanceRoute, readExperienceRoute } from './drafts.ts';
import { eraseEndUserRoute, exportEndUserRoute, listEndUsersRoute } from './end-users.ts';
import { listFeedbackRoute } from './feedback.ts';
import { readIdentitySecretRoute, rotateIdentitySecretRoute } from './identity-secret.ts';
import { createKeyRoute, deleteKeyRoute, listKeysRoute } from './keys.ts';
import { listKnowledgeRoute, searchKnowledgeRoute } from './knowledge.ts';
import { machineRoutes } from './machines.ts';
import { moveRoutes } from './moves.ts';
import { nodeRoutes } from './nodes.ts';
import { loginRoute, logoutRoute, sessionRoute } from './operator-session.ts';
import {
  createOrganisationRoute,
  creditRoute,
  listOrganisationsRoute,
  patchOrganisationRoute,
  readOrganisationRoute,
  usageRoute,
} from './organisations.ts';
import { openPairingRoute, pairingStreamRoute, readPairingRoute } from './pairings.ts';
import { readLogoRoute, readProposedLogoRoute } from './pictures.ts';
import { approveProposalRoute, listProposalsRoute, readProposalRoute, rejectProposalRoute } from './proposals.ts';
import { listScreensRoute, readManifestRoute } from './screens.ts';
import {
  listSessionsRoute,
  openSessionRoute,
  readSessionRoute,
  sessionCodeRoute,
  sessionStreamRoute,
  stopSessionRoute,
} from './setup-sessions.ts';
import { shellRoutes } from './shell.ts';
import { appStatusRoute, postSmokeRoute, readSmokeRoute } from './status.ts';
import { readCoverageRoute, readNewestTracesRoute, readTracesRoute, traceStreamRoute } from './traces.ts';
import { readTurnRoute } from './turns.ts';
import { consoleWrites } from './writes.ts';

const interfaceRoutes: readonly Route[] = [
  loginRoute,
  sessionRoute,
  logoutRoute,

  listOrganisationsRoute,
  createOrganisationRoute,
  readOrganisationRoute,
  patchOrganisationRoute,
  usageRoute,
  creditRoute,

  listAppsRoute,
  createAppRoute,
  readAppRoute,
  patchAppRoute,
  deleteAppRoute,
  goLiveRoute,

  listKeysRoute,
  createKeyRoute,
  deleteKeyRoute,
  readIdentitySecretRoute,
  rotateIdentitySecretRoute,
  listEndUsersRoute,
  exportEndUserRoute,
  eraseEndUserRoute,

  readAppearanceRoute,
  previewAppearanceRoute,
  consoleWrites.appearance,
  consoleWrites.logo,
  readLogoRoute,
  readExperienceRoute,
  consoleWrites.experience,
  listKnowledgeRoute,
  searchKnowledgeRoute,
  consoleWrites.knowledge,
  listActionsRoute,
  consoleWrites.actions,
  putActionKeyRoute,
  deleteActionKeyRoute,
  callActionRoute,
  listScreensRoute,
  readManifestRoute,
  consoleWrites.screens,
  publishRoute,

  openSessionRoute,
  listSessionsRoute,
  sessionCodeRoute,
  readSessionRoute,
  sessionStreamRoute,
  stopSessionRoute,
  listProposalsRoute,
  readProposalRoute,
  readProposedLogoRoute,
  approveProposalRoute,
  rejectProposalRoute,

  openPairingRoute,
  readPairingRoute,
  pairingStreamRoute,
  listConversationsRoute,
  readConversationRoute,
  listFeedbackRoute,
  readTurnRoute,
  readTracesRoute,
  traceStreamRoute,
  readCoverageRoute,
  readNewestTracesRoute,

  appStatusRoute,
  postSmokeRoute,
  readSmokeRoute,

  listCellsRoute,
  ...moveRoutes,
  ...nodeRoutes,
  ...actorRoutes,
  ...machineRoutes,
];

/** Everything below /console: the interface, and the app that speaks to it. */
export const consoleRoutes: readonly Route[] = [...interfaceRoutes, ...shellRoutes];
