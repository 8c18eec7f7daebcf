/** The app that the pages are about now: read once for page and navigation alike, and kept while it is read again. */
import { createStore } from '@xstate/store';
import type { Organisation } from '../../../protocol/console/answers.ts';
import { ask } from '../api/api.ts';
import { progress } from '../api/progress.ts';
import { type ApiError, asApiError } from '../api/request.ts';
import { type App, appPath } from './app.ts';

interface OpenedContext {
  readonly id: string;
  readonly app?: App;
  readonly organisation?: Organisation;
  /** How many proposals wait for a person; undefined until it is known. */
  readonly waiting?: number;
  readonly error?: ApiError;
}

const NONE: OpenedContext = { id: '' };

export const openedApp = createStore({
  context: NONE,
  on: {
    opened: (now, { id }: { id: string }): OpenedContext => (now.id === id ? now : { id }),
    read: (now, { app }: { app: App }): OpenedContext => {
      if (now.id !== app.id) return now;
      const { error: _, ...rest } = now;
      return { ...rest, app };
    },
    named: (now, { organisation }: { organisation: Organisation }): OpenedContext =>
      now.app?.org_id === organisation.id ? { ...now, organisation } : now,
    counted: (now, { id, waiting }: { id: string; waiting: number }): OpenedContext => (now.id === id ? { ...now, waiting } : now),
    failed: (now, { id, error }: { id: string; error: ApiError }): OpenedContext => (now.id === id ? { ...now, error } : now),
  },
});

/** An app has 200 waiting proposals at most. */
const PROPOSALS_READ = 200;

/** Counts again what waits for a person; a count that fails leaves the one before. */
export async function countProposals(id: string): Promise<void> {
  const path = `${appPath(id)}/proposals?status=pending&limit=${PROPOSALS_READ}`;
  const { proposals } = await ask<{ readonly proposals: readonly unknown[] }>('GET', path);
  openedApp.send({ type: 'counted', id, waiting: proposals.length });
}

async function readOrganisation(id: string): Promise<void> {
  const { org } = await ask<{ readonly org: Organisation }>('GET', `/orgs/${encodeURIComponent(id)}`);
  openedApp.send({ type: 'named', organisation: org });
}

export async function readApp(id: string): Promise<void> {
  openedApp.send({ type: 'opened', id });
  progress.send({ type: 'began' });
  try {
    const { app } = await ask<{ readonly app: App }>('GET', appPath(id));
    openedApp.send({ type: 'read', app });
    await Promise.allSettled([readOrganisation(app.org_id), countProposals(id)]);
  } catch (error) {
    openedApp.send({ type: 'failed', id, error: asApiError(error) });
  } finally {
    progress.send({ type: 'ended' });
  }
}

export function showApp(app: App): void {
  openedApp.send({ type: 'read', app });
}
