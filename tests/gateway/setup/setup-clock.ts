/** The setup interface in this process, over HTTP, with a clock that a test sets. */

import type { TestContext } from 'node:test';
import { issueFileCode } from '../../../actors/setup/files.ts';
import type { Services } from '../../../gateway/services.ts';
import { setupRoutes } from '../../../gateway/setup/routes.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import type { SessionRef } from '../../../storage/setup/setup-access.ts';
import { readSession, type SetupSessionRow } from '../../../storage/setup/setup-sessions.ts';
import { type StoredApp, storeApp } from '../../actors/setup/app-in-storage.ts';
import { setupOnStorage } from '../../actors/setup/setup-on-storage.ts';
import { AGENT, type Agent, agentOf } from '../../support/setup-agent.ts';
import { serve } from '../test-server.ts';

export interface ClockedSetup extends StoredApp {
  readonly baseUrl: string;
  readonly clock: { nowMs: number };
  /** A new session of the app, as the console opens one. */
  open(kind?: 'setup' | 'sync'): Promise<{ ref: SessionRef; code: string }>;
  freshCode(ref: SessionRef): Promise<string>;
  /** The agent of a new session, after POST /start. */
  agent(kind?: 'setup' | 'sync'): Promise<{ ref: SessionRef; agent: Agent }>;
  row(ref: SessionRef): SetupSessionRow | undefined;
  /** Ends what has run out, as the timer does. */
  settleDeadlines(): Promise<void>;
  /** What a start does about the organisation. */
  resume(): Promise<void>;
  /** What a route does that has seen something of the app. */
  settle(): Promise<void>;
}

const START_MS = Date.parse('2026-11-21T10:00:00.000Z');

export async function startClocked(t: TestContext): Promise<ClockedSetup> {
  const clock = { nowMs: START_MS };
  const nowMs = () => clock.nowMs;
  const stored = await storeApp(t, clock.nowMs);
  const { storage, organisationId, appId } = stored;
  const setup = setupOnStorage(t, { storage, nowMs });
  const { base: baseUrl } = await serve(t, setupRoutes, {
    storage,
    setup,
    nowMs,
    writes: { surroundings: 'production', models: [] as Services['writes']['models'] } as Services['writes'],
  });
  const db = storage.organisation(organisationId);
  const open: ClockedSetup['open'] = async (kind = 'setup') => {
    const app = readApp(db, appId, organisationId);
    if (app === undefined) throw new Error('the app is gone');
    const { row, issued } = await setup.sessions.open(app, kind);
    return { ref: { sessionId: row.id, organisationId, appId }, code: issued.code };
  };
  return {
    ...stored,
    baseUrl,
    clock,
    open,
    freshCode: async (ref) => (await issueFileCode(setup, ref)).code,
    async agent(kind) {
      const { ref, code } = await open(kind);
      const agent = await agentOf(baseUrl, code);
      await agent.get('POST', '/start', AGENT);
      return { ref, agent };
    },
    row: (ref) => readSession(db, ref.sessionId),
    resume: () => setup.resume(organisationId),
    settle: () => setup.settled(organisationId, appId),
    settleDeadlines: async () => setup.sessions.deadlines().settle(organisationId),
  };
}
