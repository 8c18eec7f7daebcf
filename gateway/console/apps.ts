/** Console: apps of an organisation, their settings, where they stand and their smoke test (CONSOLE-9, LIVE-3, SMOKE-3). What GET answers can be sent back with PATCH. */
import { setImmediate as breathe } from 'node:timers/promises';
import { readAppStatus } from '../../actors/setup/app-status.ts';
import { goLiveOnRequest } from '../../actors/setup/go-live.ts';
import { panelSteps } from '../../actors/setup/panel.ts';
import { releaseOf } from '../../actors/setup/release.ts';
import type { App } from '../../protocol/console/answers.ts';
import { settingsToWire } from '../../protocol/console/app-settings.ts';
import { createAppBody, patchAppBody } from '../../protocol/console/apps.ts';
import type { AppStatus } from '../../protocol/console/setup-answers.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { createApp } from '../../storage/apps/app-creation.ts';
import { type AppRecord, listApps } from '../../storage/apps/apps.ts';
import { isBlocked } from '../../storage/apps/manifests.ts';
import { organisationOfApp } from '../../storage/organisations/organisations.ts';
import { readLatestSession } from '../../storage/setup/setup-sessions.ts';
import { readLatestSmokeRun } from '../../storage/setup/smoke-runs.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { deleteUploadFiles } from '../../storage/uploads/upload-files.ts';
import { uploadIdsOfApp } from '../../storage/uploads/uploads.ts';
import { smokeRunToWire } from '../http/wire.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import { appRead, appRoute, requireApp, requireOrganisation } from './app-read.ts';

function appToWire(db: Connection, app: AppRecord): App {
  return {
    id: app.id,
    org_id: app.organisationId,
    name: app.name,
    slug: app.slug,
    platform_hint: app.platformHint,
    live: app.live,
    live_at: timestamp(app.liveAtMs),
    blocked: isBlocked(db, app, app.settings.allowedDomains.length),
    ...settingsToWire(app.settings),
    persona_version: app.personaVersion,
    published_version: app.publishedVersion,
    handshake_at: timestamp(app.handshakeAtMs),
    created_at: timestamp(app.createdAtMs),
    updated_at: timestamp(app.updatedAtMs),
  };
}

const listAppsRoute = consoleRoute('GET', '/orgs/:org/apps', undefined, ({ params }, services) => {
  const { id } = requireOrganisation(services, params.org);
  const { storage } = services;
  const db = storage.organisation(id);
  const apps = listApps(db, id).filter((app) => organisationOfApp(storage.control, app.id) === id);
  return json({ apps: apps.map((app) => appToWire(db, app)) });
});

const createAppRoute = consoleRoute('POST', '/orgs/:org/apps', createAppBody, async ({ params, body }, services) => {
  const { id: organisationId } = requireOrganisation(services, params.org);
  const { name, slug, platform_hint: platformHint, ...settings } = body;
  const nowMs = services.nowMs();
  const { app, keys } = await createApp(services.storage, { organisationId, name, slug, platformHint, settings, nowMs });
  return json({ app: appToWire(services.storage.organisation(organisationId), app), keys }, 201);
});

const readAppRoute = appRead('', ({ app, db }) => ({ app: appToWire(db, app) }));

const patchAppRoute = appRoute('PATCH', '', patchAppBody, async ({ app: { id: appId, organisationId }, db }, { body }, services) => {
  const app = await services.storage.write(organisationId, 'patchApp', { appId, organisationId, patch: body, nowMs: services.nowMs() });
  // The patch may let the app go live by itself.
  await services.setup.settled(organisationId, appId);
  return json({ app: appToWire(db, app) });
});

/** Ids of uploads that are read in one go. */
const UPLOADS_PER_READ = 1_000;

/** There may be hundreds of thousands: other requests are let in between. */
async function allUploadIds(db: Connection, appId: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const page = uploadIdsOfApp(db, appId, ids.at(-1) ?? '', UPLOADS_PER_READ);
    ids.push(...page);
    if (page.length < UPLOADS_PER_READ) return ids;
    await breathe();
  }
}

const deleteAppRoute = appRoute('DELETE', '', undefined, async ({ app, db }, _, services) => {
  const { id: appId, organisationId } = app;
  const { storage } = services;
  const uploadIds = await allUploadIds(db, appId);
  // The app is gone with its row; the directory and the files only follow.
  await storage.write(organisationId, 'deleteApp', { appId });
  await storage.writeControl('unregisterApp', { appId });
  await deleteUploadFiles(storage.layout, organisationId, uploadIds);
  return json({ deleted: true, id: appId });
});

const goLiveRoute = consoleRoute('POST', '/apps/:app/go-live', undefined, async ({ params }, services) => {
  await goLiveOnRequest(services.setup, requireApp(services, params.app).app);
  const { app } = requireApp(services, params.app);
  return json({ live: app.live, live_at: timestamp(app.liveAtMs) });
});

const appStatusRoute = appRoute('GET', '/status', undefined, async ({ app, db }, _, services) => {
  // Updates the panel with what was observed since the last write.
  await services.setup.sessions.observe(app.organisationId, app.id);
  const session = readLatestSession(db, app.id);
  // Null: no agent has set the app up.
  return json<AppStatus>({
    ...readAppStatus(db, app),
    release: releaseOf(db, app, services.writes.models),
    steps: session === undefined ? null : panelSteps(session),
  });
});

export const readSmokeRoute = appRead('/smoke', ({ app, db }) => {
  const run = readLatestSmokeRun(db, app.id);
  return { run: run === undefined ? null : smokeRunToWire(run) };
});

const postSmokeRoute = appRoute('POST', '/smoke', undefined, async ({ app: { id, organisationId } }, _, services) => {
  const run = await services.smoke.run(organisationId, id);
  await services.setup.settled(organisationId, id);
  return json(smokeRunToWire(run));
});

export const appRoutes: readonly Route[] = [
  listAppsRoute,
  createAppRoute,
  readAppRoute,
  patchAppRoute,
  deleteAppRoute,
  goLiveRoute,
  appStatusRoute,
  postSmokeRoute,
  readSmokeRoute,
];
