/** An app going live, by itself or because a person asks for it (LIVE-4, LIVE-6). */
import { type AppLifecycleEffect, type AppLifecycleEvent, appLifecycle } from '../../machines/app-lifecycle.ts';
import { stepper } from '../../machines/step.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import type { PlannedMails } from '../../storage/billing/member-mails.ts';
import { readOrganisation } from '../../storage/organisations/organisations.ts';
import { readOpenSession } from '../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';
import { readAppStatus } from './app-status.ts';
import { releaseOf } from './release.ts';
import type { GoesLive } from './session.ts';
import type { SetupSessions } from './sessions.ts';

export interface GoLiveServices {
  readonly storage: Storage;
  readonly sessions: Pick<SetupSessions, 'appWentLive' | 'tell'>;
  mailsPlanned(organisationId: string): void;
  nowMs(): number;
}

interface Decided {
  readonly effects: readonly AppLifecycleEffect[];
  readonly trace: NewTrace | null;
}

/** Who brought it about, as the mail says it. */
const BY_ITSELF = 'It went live by itself, because all four go-live checks pass and its setting auto_go_live is on.';
const BY_A_PERSON = 'A person took it live in the console.';

/** What the members of its organisation are told when the app goes live (LIVE-9). */
function goLiveMails(storage: Storage, app: AppRecord, how: string): PlannedMails {
  const organisation = readOrganisation(storage.control, app.organisationId);
  const { obstacles } = releaseOf(storage.organisation(app.organisationId), app);
  const missing = obstacles.length === 0 ? [] : [`What keeps people from getting it:\n${obstacles.map((each) => `- ${each}`).join('\n')}`];
  const stop = 'To stop it, suspend the app in its settings in the console of the service.';
  return {
    about: `live ${app.id}`,
    emails: organisation?.members.map(({ email }) => email) ?? [],
    subject: `${app.name} is live`,
    text: `${[`The assistant of ${app.name} (${organisation?.name ?? app.organisationId}) is live: live keys are answered.`, how, ...missing, stop].join('\n\n')}\n`,
  };
}

async function perform(services: GoLiveServices, app: AppRecord, { effects, trace }: Decided, how: string): Promise<void> {
  const { storage, sessions, nowMs } = services;
  const { id: appId, organisationId } = app;
  for (const { type } of effects) {
    // Two calls at once both find the app live afterwards; the earlier time stays (storage/apps/going-live.ts).
    if (type === 'goLive') {
      const mails = goLiveMails(storage, app, how);
      await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: nowMs(), trace, mails });
      services.mailsPlanned(organisationId);
      sessions.tell(organisationId, appId);
    }
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

/** How the app goes live by itself when its open session ends; null: it does not. */
export function goingLiveWithoutSession(storage: Storage, app: AppRecord): GoesLive | null {
  const decision = evaluate(storage.organisation(app.organisationId), app, false);
  return takesLive(decision) ? { trace: decision.trace, mails: goLiveMails(storage, app, BY_ITSELF) } : null;
}

/** When checks pass, settings allow it and no session is open. Ends a session that a dead process left. True: it went live now. */
export async function goLiveIfReady(services: GoLiveServices, organisationId: string, appId: string): Promise<boolean> {
  const db = services.storage.organisation(organisationId);
  const app = readApp(db, appId, organisationId);
  if (app === undefined) return false;
  const decision = evaluate(db, app, readOpenSession(db, appId)?.kind === 'setup');
  await perform(services, app, decision, BY_ITSELF);
  return takesLive(decision);
}

/** Takes the app live whatever its checks say; one that is live stays as it is. Its open setup session ends. @throws Refusal not_found. */
export async function goLiveOnRequest(services: GoLiveServices, app: AppRecord): Promise<void> {
  await perform(services, app, decided(app, { type: 'golive.requested' }), BY_A_PERSON);
}
