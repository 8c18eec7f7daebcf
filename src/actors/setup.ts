/**
 * The setup interface's actors, put together: sessions, what agents do to them, and what follows when something about
 * an app has changed (its panel is ticked, and it may go live by itself).
 */
import { goLiveIfReady } from './go-live.ts';
import { SetupAgent } from './setup-agent.ts';
import type { SetupServices } from './setup-session.ts';
import { SetupSessions } from './setup-sessions.ts';

export interface Setup extends SetupServices {
  readonly sessions: SetupSessions;
  readonly agent: SetupAgent;
  /** To be told when something of the app was observed or a session ended. Never throws: nobody waits for it. */
  settled(organisationId: string, appId: string): Promise<void>;
  close(): void;
}

export function createSetup(services: SetupServices): Setup {
  const { storage, log, nowMs } = services;
  const settled = async (organisationId: string, appId: string) => {
    try {
      await sessions.observe(organisationId, appId);
      if (await goLiveIfReady(storage, organisationId, appId, nowMs())) await sessions.appWentLive(organisationId, appId);
    } catch (error) {
      // Looked at again with the next thing that is observed.
      log.error({ err: error, app_id: appId }, 'an observation could not be noted');
    }
  };
  const sessions = new SetupSessions(services, settled);
  return { ...services, sessions, agent: new SetupAgent(storage, sessions), settled, close: () => sessions.close() };
}
