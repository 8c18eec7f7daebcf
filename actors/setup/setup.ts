/**
 * The setup interface's actors, put together: sessions, what agents do to them, and what follows when something about
 * an app has changed (its panel is ticked, and it may go live by itself).
 */
import { listApps, readApp } from '../../storage/apps/apps.ts';
import { readLatestSession } from '../../storage/setup/setup-sessions.ts';
import { SetupAgent } from './agent.ts';
import { goLiveIfReady } from './go-live.ts';
import type { SetupServices } from './session.ts';
import { SetupSessions } from './sessions.ts';

export type Setup = ReturnType<typeof createSetup>;

/** The actors of one process. `close` stops their pings; sessions are rows and need no end. */
export function createSetup(services: SetupServices) {
  const { storage, log, nowMs, mailsPlanned } = services;
  /**
   * Call it after what decides whether an app goes live by itself (LIVE-5): POST /complete, a manifest, an indexed source, a screen, a passed run, a
   * setting. Not called for a session that failed, was stopped, was replaced or expired. Never throws: no caller awaits it.
   */
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
