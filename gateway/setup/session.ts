/** GET /file, POST /start, /events, /complete and /fail: the life of a session as its agent sees it (docs/specification/setup.md). */
import * as v from 'valibot';
import { writeModeOf } from '../../actors/setup/admission.ts';
import { readAppStatus } from '../../actors/setup/app-status.ts';
import { redeemFileCode } from '../../actors/setup/files.ts';
import { releaseOf } from '../../actors/setup/release.ts';
import { Refusal } from '../../protocol/errors.ts';
import { completeBody, failBody } from '../../protocol/setup/completion.ts';
import { parseEvents } from '../../protocol/setup/events.ts';
import { startBody } from '../../protocol/setup/start.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { countWaitingProposals } from '../../storage/setup/proposals.ts';
import type { SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { RUNTIME_DOCS_PATH } from '../docs.ts';
import { defineRoute, json, type Route, setupRoute } from '../route.ts';
import { publicUrlOf, setupUrlOf } from './addresses.ts';
import { renderSetupFile } from './file/file.ts';

export function sessionToWire(row: SetupSessionRow) {
  return { id: row.id, kind: row.kind, status: row.state, expires_at: timestamp(row.expiresAtMs) };
}

const fileRoute = defineRoute({
  method: 'GET',
  path: '/setup/file',
  caller: 'anyone',
  async handle({ query, header }, services) {
    const code = query.get('code');
    if (code === null) throw new Refusal('unknown_code', 'The address needs ?code=…: copy the whole command from the console.');
    const { token, row, app } = await redeemFileCode(services.setup, code);
    const file = renderSetupFile({
      baseUrl: setupUrlOf(services, header),
      docsUrl: `${publicUrlOf(services, header)}${RUNTIME_DOCS_PATH}`,
      token,
      app: { name: app.name, platformHint: app.platformHint, live: app.live },
      release: releaseOf(services.storage.organisation(app.organisationId), app),
      session: { kind: row.kind, expiresAtMs: row.expiresAtMs, writes: writeModeOf(row, app) },
    });
    const headers = { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
    return { kind: 'text', status: 200, body: file, headers };
  },
});

const startRoute = defineRoute({
  method: 'POST',
  path: '/setup/start',
  caller: 'setup_claimant',
  body: startBody,
  async handle({ caller, body, header }, services) {
    const { row, app } = await services.setup.agent.claim(caller, body);
    const url = `${setupUrlOf(services, header)}/context`;
    return json({
      ok: true,
      session: sessionToWire(row),
      app: { id: app.id, name: app.name },
      next: { method: 'GET', path: '/context', url },
    });
  },
});

// One of three forms, told apart below.
const eventsRoute = setupRoute('POST', '/events', v.unknown(), async ({ caller, body }, services) => {
  const { events, detected } = parseEvents(body);
  const reported = await services.setup.agent.report(caller.ref, events, detected);
  return json({ accepted: reported.ids.length, ids: reported.ids, detected: reported.detected });
});

/** `"App connected" is not ok: The app has not connected yet. …` of each check that an app which is not live waits for. */
function missing(db: Connection, app: AppRecord): string[] {
  if (app.live) return [];
  return readAppStatus(db, app)
    .go_live.filter(({ ok }) => !ok)
    .map(({ label, detail }) => `"${label}" is not ok: ${detail}`);
}

const completeRoute = setupRoute('POST', '/complete', completeBody, async ({ caller, body }, services) => {
  const { ref } = caller;
  const { row } = await services.setup.agent.complete(ref, body);
  // What changed in that very moment is looked at, too.
  await services.setup.settled(ref.organisationId, ref.appId);
  const db = services.storage.organisation(ref.organisationId);
  const app = readApp(db, ref.appId, ref.organisationId) ?? caller.app;
  const { published_version: version, note, obstacles } = releaseOf(db, app, services.writes.models);
  // The note is left out when people already get what was written.
  const unexpected = !app.live || version === null || obstacles.length > 0;
  return json({
    ...{ ok: true, status: row.state, token: 'revoked', live: app.live, version },
    ...(unexpected && { note: [note, ...missing(db, app)].join(' ') }),
    ...(row.kind === 'sync' && { waiting: countWaitingProposals(db, app.id) }),
  });
});

const failRoute = setupRoute('POST', '/fail', failBody, async ({ caller, body }, services) => {
  // It leaves the app as it is: giving up takes nothing live (SETUP-53).
  const { row } = await services.setup.agent.fail(caller.ref, body);
  return json({ ok: true, status: row.state, token: 'revoked' });
});

export const sessionRoutes: readonly Route[] = [fileRoute, startRoute, eventsRoute, completeRoute, failRoute];
