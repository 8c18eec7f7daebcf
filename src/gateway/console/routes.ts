/** The console interface's table of contents (decisions §2). */
import type { Route } from '../route.ts';
import { putAppearanceRoute, readAppearanceRoute } from './appearance.ts';
import { createAppRoute, deleteAppRoute, goLiveRoute, listAppsRoute, patchAppRoute, readAppRoute } from './apps.ts';
import { putExperienceRoute, readExperienceRoute } from './experience.ts';
import { readIdentitySecretRoute, rotateIdentitySecretRoute } from './identity-secret.ts';
import { createKeyRoute, deleteKeyRoute, listKeysRoute } from './keys.ts';
import { listKnowledgeRoute, postKnowledgeRoute } from './knowledge.ts';
import {
  createOrganisationRoute,
  creditRoute,
  listOrganisationsRoute,
  patchOrganisationRoute,
  readOrganisationRoute,
  usageRoute,
} from './organisations.ts';
import { consolePageRoutes } from './page.ts';
import { publishRoute } from './publish.ts';
import { loginRoute, logoutRoute, sessionRoute } from './session.ts';

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

  readAppearanceRoute,
  putAppearanceRoute,
  readExperienceRoute,
  putExperienceRoute,
  listKnowledgeRoute,
  postKnowledgeRoute,
  publishRoute,
];

/** Everything below /console: the interface, the page and its documentation. */
export const consoleRoutes: readonly Route[] = [...interfaceRoutes, ...consolePageRoutes(interfaceRoutes)];
