/**
 * The setup interface's actors, put together: sessions, what agents do to them, and what follows when something about
 * an app has changed (its panel is ticked, and it may go live by itself).
 */
import { listApps } from '../storage/apps.ts';
import { goLiveIfReady } from './go-live.ts';
import { SetupAgent } from './setup-agent.ts';
import type { SetupServices } from './setup-session.ts';
import { SetupSessions } from './setup-sessions.ts';

export interface Setup extends SetupServices {
  readonly sessions: SetupSessions;
  readonly agent: SetupAgent;
  /** To be told when something of the app was observed or a session ended. Never throws: nobody waits for it. */
  settled(organisationId: string, appId: string): Promise<void>;
  /** For the start of a node, and when another one was lost: what a process that died had observed, and not yet acted on. */
  resume(organisationId: string): Promise<void>;
  close(): void;
}

/** The actors of one process. `close` stops their pings; sessions are rows and need no end. */
export function createSetup(services: SetupServices): Setup {
  const { storage, log, nowMs } = services;
  const settled = async (organisationId: string, appId: string) => {
    try {
      await sessions.observe(organisationId, appId);
      await goLiveIfReady({ storage, sessions, nowMs }, organisationId, appId);
    } catch (error) {
      // Looked at again with the next thing that is observed.
      log.error({ err: error, app_id: appId }, 'an observation could not be noted');
    }
  };
  const sessions = new SetupSessions(services, settled);
  const resume = async (organisationId: string) => {
    for (const { id } of listApps(storage.organisation(organisationId))) await settled(organisationId, id);
  };
  return { ...services, sessions, agent: new SetupAgent(storage, sessions), settled, resume, close: () => sessions.close() };
}
