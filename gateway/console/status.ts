/** Console: where an app stands, and its smoke test (LIVE-3, SMOKE-3). */

import { readAppStatus } from '../../actors/setup/app-status.ts';
import { releaseOf } from '../../actors/setup/release.ts';
import type { AppStatus } from '../../protocol/console/setup-answers.ts';
import { readLatestSession } from '../../storage/setup/setup-sessions.ts';
import { readLatestSmokeRun } from '../../storage/setup/smoke-runs.ts';
import { smokeRunToWire } from '../http/wire.ts';
import { json } from '../route.ts';
import { panelSteps } from '../setup/panel.ts';
import { appRead, appRoute } from './app-read.ts';

export const appStatusRoute = appRoute('GET', '/status', undefined, async ({ app, db }, _, services) => {
  // Updates the panel with what was observed since the last write.
  await services.setup.sessions.observe(app.organisationId, app.id);
  const session = readLatestSession(db, app.id);
  // Null: no agent has set the app up.
  return json<AppStatus>({
    ...readAppStatus(db, app),
    release: releaseOf(db, app),
    steps: session === undefined ? null : panelSteps(session),
  });
});

export const readSmokeRoute = appRead('/smoke', ({ app, db }) => {
  const run = readLatestSmokeRun(db, app.id);
  return { run: run === undefined ? null : smokeRunToWire(run) };
});

export const postSmokeRoute = appRoute('POST', '/smoke', undefined, async ({ app: { id, organisationId } }, _, services) => {
  const run = await services.smoke.run(organisationId, id);
  await services.setup.settled(organisationId, id);
  return json(smokeRunToWire(run));
});
