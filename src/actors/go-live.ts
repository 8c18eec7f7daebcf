/** An app going live by itself (service.md "Other states", decisions §2): the `app-lifecycle` machine fed with the four checks. */
import { appLifecycle } from '../machines/app-lifecycle.ts';
import { readApp } from '../storage/apps.ts';
import { readOpenSession } from '../storage/setup-sessions.ts';
import type { Storage } from '../storage/storage.ts';
import { readAppStatus } from './app-status.ts';
import { stepper } from './step.ts';

/**
 * Takes the app live when all four checks pass, its settings allow it and no setup session is open. To be called after
 * whatever may have made the last check pass; costs a few reads when there is nothing to do. True when this call did it.
 */
export async function goLiveIfReady(storage: Storage, organisationId: string, appId: string, nowMs: number): Promise<boolean> {
  const db = storage.organisation(organisationId);
  const app = readApp(db, appId, organisationId);
  if (app === undefined || app.live) return false;
  const { effects } = stepper(appLifecycle).send({
    type: 'checks.evaluated',
    passed: readAppStatus(db, app).go_live.every((check) => check.ok),
    autoGoLive: app.settings.autoGoLive,
    setupSessionOpen: readOpenSession(db, appId)?.kind === 'setup',
  });
  if (!effects.some((effect) => effect.type === 'goLive')) return false;
  // Of two that come here at once both see the app live afterwards; the first time stays (storage/apps.ts).
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs });
  return true;
}
