/** The setup interface's actors, put together with what follows when something about an app has changed. */
import { listApps, readApp } from '../../storage/apps/apps.ts';
import { readLatestSession } from '../../storage/setup/setup-sessions.ts';
import { SetupAgent } from './agent.ts';
import { goLiveIfReady } from './go-live.ts';
import type { SetupServices } from './session.ts';
import { SetupSessions } from './sessions.ts';

export type Setup = ReturnType<typeof createSetup>;

export function createSetup(services: SetupServices) {
  const { storage, log, nowMs, mailsPlanned } = services;
  /** Call it after what decides whether an app goes live by itself (LIVE-5), but not for a session that ended otherwise. Never throws. */
  const settled = async (organisationId: string, appId: string) => {
    try {
      await sessions.observe(organisationId, appId);
      await goLiveIfReady({ storage, sessions, nowMs, mailsPlanned }, organisationId, appId);
    } catch (error) {
      // Looked at again with the next thing that is observed.
      log.error(
        { err: error, app_id: appId },
        'ticking the setup steps that an app has completed failed: checked again with the app’s next change',
      );
    }
  };
  const sessions = new SetupSessions(services);
  /** For the start of a node and after the loss of another one: acts on what a process that died had observed. */
  const resume = async (organisationId: string) => {
    const db = storage.organisation(organisationId);
    for (const { id } of listApps(db)) {
      // A session that failed or was stopped takes no app live, and neither does a later start: the next change that settles it does.
      const wasLeft = ['failed', 'cancelled', 'expired'].includes(readLatestSession(db, id)?.state ?? '');
      if (!wasLeft || readApp(db, id, organisationId)?.live === true) await settled(organisationId, id);
    }
  };
  return { ...services, sessions, agent: new SetupAgent(storage, sessions), settled, resume, close: () => sessions.close() };
}
