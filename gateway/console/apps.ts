/** Console: apps of an organisation and their settings (CONSOLE-9). What GET answers can be sent back with PATCH, field by field. */

import { setImmediate as breathe } from 'node:timers/promises';
import { goLiveOnRequest } from '../../actors/setup/go-live.ts';
import type { App } from '../../protocol/console/answers.ts';
import { settingsToWire } from '../../protocol/console/app-settings.ts';
import { createAppBody, patchAppBody } from '../../protocol/console/apps.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { createApp } from '../../storage/apps/app-creation.ts';
import { type AppRecord, listApps } from '../../storage/apps/apps.ts';
import { organisationOfApp } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { deleteUploadFiles } from '../../storage/uploads/upload-files.ts';
import { uploadIdsOfApp } from '../../storage/uploads/uploads.ts';
import { defineRoute, json } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';
import { requireApp, requireOrganisation } from './lookup.ts';

export function appToWire(app: AppRecord): App {
  return {
    id: app.id,
    org_id: app.organisationId,
    name: app.name,
    slug: app.slug,
    platform_hint: app.platformHint,
    live: app.live,
    live_at: timestamp(app.liveAtMs),
    ...settingsToWire(app.settings),
    persona_version: app.personaVersion,
    published_version: app.publishedVersion,
    handshake_at: timestamp(app.handshakeAtMs),
    created_at: timestamp(app.createdAtMs),
    updated_at: timestamp(app.updatedAtMs),
  };
}

export const listAppsRoute = defineRoute({
  method: 'GET',
  path: '/console/api/orgs/:org/apps',
  caller: 'operator',
  handle({ params }, services) {
    const { id } = requireOrganisation(services, params.org);
    const { storage } = services;
    const apps = listApps(storage.organisation(id), id).filter((app) => organisationOfApp(storage.control, app.id) === id);
    return json({ apps: apps.map(appToWire) });
  },
});

export const createAppRoute = defineRoute({
  method: 'POST',
  path: '/console/api/orgs/:org/apps',
  caller: 'operator',
  body: createAppBody,
  async handle({ params, body }, services) {
    const { id: organisationId } = requireOrganisation(services, params.org);
    const { name, slug, platform_hint: platformHint, ...settings } = body;
    const nowMs = services.nowMs();
    const { app, keys } = await createApp(services.storage, { organisationId, name, slug, platformHint, settings, nowMs });
    return json({ app: appToWire(app), keys }, 201);
  },
});

export const readAppRoute = appRead('', ({ app }) => ({ app: appToWire(app) }));

export const patchAppRoute = appRoute('PATCH', '', patchAppBody, async ({ app: { id: appId, organisationId } }, { body }, services) => {
  const app = await services.storage.write(organisationId, 'patchApp', { appId, organisationId, patch: body, nowMs: services.nowMs() });
  // The patch may let the app go live by itself.
  await services.setup.settled(organisationId, appId);
  return json({ app: appToWire(app) });
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

export const deleteAppRoute = appRoute('DELETE', '', undefined, async ({ app, db }, _, services) => {
  const { id: appId, organisationId } = app;
  const { storage } = services;
  const uploadIds = await allUploadIds(db, appId);
  // The app is gone with its row; the directory and the files only follow.
  await storage.write(organisationId, 'deleteApp', { appId });
  await storage.writeControl('unregisterApp', { appId });
  await deleteUploadFiles(storage.layout, organisationId, uploadIds);
  return json({ deleted: true, id: appId });
});

export const goLiveRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/go-live',
  caller: 'operator',
  async handle({ params }, services) {
    await goLiveOnRequest(services.setup, requireApp(services, params.app).app);
    const { app } = requireApp(services, params.app);
    return json({ live: app.live, live_at: timestamp(app.liveAtMs) });
  },
});
