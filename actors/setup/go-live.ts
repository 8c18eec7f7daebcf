/**
 * An app going live, by itself or because a person asks for it (LIVE-4, LIVE-6): the
 * `app-lifecycle` machine fed with the app's rows, and its effects performed.
 */
import { type AppLifecycleEffect, type AppLifecycleEvent, appLifecycle } from '../../machines/app-lifecycle.ts';
import { stepper } from '../../machines/step.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { readOpenSession } from '../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';
import { readAppStatus } from './app-status.ts';
import type { SetupSessions } from './sessions.ts';

export interface GoLiveServices {
  readonly storage: Storage;
  /** Ends the app's setup session and tells its watchers. */
  readonly sessions: Pick<SetupSessions, 'appWentLive' | 'tell'>;
  nowMs(): number;
}

/** What an app's machine decided. */
interface Decided {
  readonly effects: readonly AppLifecycleEffect[];
  /** For the commit that takes the app live. */
  readonly trace: NewTrace | null;
}

async function perform(
  { storage, sessions, nowMs }: GoLiveServices,
  { id: appId, organisationId }: AppRecord,
  { effects, trace }: Decided,
): Promise<void> {
  for (const { type } of effects) {
    // Two calls at once both find the app live afterwards; the earlier time stays (storage/apps/going-live.ts).
    if (type === 'goLive') await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: nowMs(), trace });
    if (type === 'goLive') sessions.tell(organisationId, appId);
    if (type === 'endSetupSession') await sessions.appWentLive(organisationId, appId);
  }
}

function decided(app: AppRecord, event: AppLifecycleEvent): Decided {
  const machine = stepper(appLifecycle, { stored: { state: app.live ? 'live' : 'building', context: {} } });
  const { effects } = machine.send(event);
  return { effects, trace: takenTrace(appLifecycle, machine) };
}

function evaluate(db: Connection, app: AppRecord, setupSessionOpen: boolean): Decided {
  const { autoGoLive } = app.settings;
  return decided(app, {
    type: 'checks.evaluated',
    // They would be read with every source that is indexed: not where they decide nothing.
    passed: !app.live && autoGoLive && !setupSessionOpen && readAppStatus(db, app).go_live.every((check) => check.ok),
    autoGoLive,
    setupSessionOpen,
  });
}

const takesLive = ({ effects }: Decided) => effects.some(({ type }) => type === 'goLive');

/** The app's step, if it goes live by itself when its open session ends; else null. */
export function goingLiveWithoutSession(db: Connection, app: AppRecord): { readonly trace: NewTrace | null } | null {
  const decision = evaluate(db, app, false);
  return takesLive(decision) ? { trace: decision.trace } : null;
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
  const decision = evaluate(db, app, readOpenSession(db, appId)?.kind === 'setup');
  await perform(services, app, decision);
  return takesLive(decision);
}

/** Takes the app live whatever its checks say; one that is live stays as it is. Its open setup session ends. @throws Refusal not_found. */
export async function goLiveOnRequest(services: GoLiveServices, app: AppRecord): Promise<void> {
  await perform(services, app, decided(app, { type: 'golive.requested' }));
}
