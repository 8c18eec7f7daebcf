/**
 * An app going live, by itself or because a person asks for it (LIVE-4, LIVE-6): the
 * `app-lifecycle` machine fed with the app's rows, and its effects performed.
 */
import { type AppLifecycleEffect, appLifecycle } from '../../machines/app-lifecycle.ts';
import { stepper } from '../../machines/step.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { readOpenSession } from '../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import { readAppStatus } from './app-status.ts';
import type { SetupSessions } from './sessions.ts';

export interface GoLiveServices {
  readonly storage: Storage;
  /** Ends the app's setup session and tells its watchers. */
  readonly sessions: Pick<SetupSessions, 'appWentLive' | 'tell'>;
  nowMs(): number;
}

async function perform(
  { storage, sessions, nowMs }: GoLiveServices,
  { id: appId, organisationId }: AppRecord,
  effects: readonly AppLifecycleEffect[],
): Promise<void> {
  for (const { type } of effects) {
    // Two calls at once both find the app live afterwards; the earlier time stays (storage/apps/going-live.ts).
    if (type === 'goLive') await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: nowMs() });
    if (type === 'goLive') sessions.tell(organisationId, appId);
    if (type === 'endSetupSession') await sessions.appWentLive(organisationId, appId);
  }
}

function lifecycleOf(app: AppRecord) {
  return stepper(appLifecycle, { stored: { state: app.live ? 'live' : 'building', context: {} } });
}

function evaluate(db: Connection, app: AppRecord, setupSessionOpen: boolean): readonly AppLifecycleEffect[] {
  const { autoGoLive } = app.settings;
  return lifecycleOf(app).send({
    type: 'checks.evaluated',
    // They would be read with every source that is indexed: not where they decide nothing.
    passed: !app.live && autoGoLive && !setupSessionOpen && readAppStatus(db, app).go_live.every((check) => check.ok),
    autoGoLive,
    setupSessionOpen,
  }).effects;
}

/** Whether the app goes live by itself when its open session ends. */
export function goesLiveWithoutSession(db: Connection, app: AppRecord): boolean {
  return evaluate(db, app, false).some((effect) => effect.type === 'goLive');
}

/**
 * Takes the app live when all four checks pass, its settings allow it and no setup session is open. If the app is live already, ends a setup
 * session that a process left open when it died. Call it after anything that may make the last check pass: it costs a few reads when there is
 * nothing to do. True when this call took the app live.
 */
export async function goLiveIfReady(services: GoLiveServices, organisationId: string, appId: string): Promise<boolean> {
  const db = services.storage.organisation(organisationId);
  const app = readApp(db, appId, organisationId);
  if (app === undefined) return false;
  const effects = evaluate(db, app, readOpenSession(db, appId)?.kind === 'setup');
  await perform(services, app, effects);
  return effects.some((effect) => effect.type === 'goLive');
}

/** Takes the app live whatever its checks say; one that is live stays as it is. Its open setup session ends. @throws Refusal not_found. */
export async function goLiveOnRequest(services: GoLiveServices, app: AppRecord): Promise<void> {
  await perform(services, app, lifecycleOf(app).send({ type: 'golive.requested' }).effects);
}
