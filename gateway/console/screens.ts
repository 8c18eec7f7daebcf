/** Console: the screens declared for an app, and what its build registers (SCREEN-2). */
import type { DeclaredScreen } from '../../protocol/console/setup-answers.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { readBuilds } from '../../storage/apps/manifests.ts';
import {
  countPlanned,
  countScreens,
  listScreens,
  registeredScreens,
  type ScreenRecord,
  screensMissing,
} from '../../storage/apps/screens.ts';
import { appRead } from './app-read.ts';
import { pageOf } from './pages.ts';

function screenToWire(screen: ScreenRecord, registered: ReadonlySet<string>): DeclaredScreen {
  return {
    ...screen.definition,
    /** No build in use registers it yet. */
    planned: screen.archivedAtMs === null && !registered.has(screen.name),
    origin: screen.origin,
    reason: screen.reason,
    archived_at: timestamp(screen.archivedAtMs),
    created_at: timestamp(screen.createdAtMs),
    updated_at: timestamp(screen.updatedAtMs),
  };
}

export const listScreensRoute = appRead('/screens', ({ app, db }, query) => {
  const { items, next } = pageOf(query, 'name', (after, limit) => listScreens(db, app.id, after, limit));
  const registered = registeredScreens(db, app.id);
  const facts = { declared: countScreens(db, app.id), planned: countPlanned(db, app.id, registered), missing: screensMissing(db, app.id) };
  return { facts, screens: items.map((screen) => screenToWire(screen, registered)), next };
});

function buildToWire(build: ReturnType<typeof readBuilds>['counts']) {
  if (build === undefined) return null;
  const { lastSeenAtMs, ...rest } = build;
  return { ...rest, last_seen_at: timestamp(lastSeenAtMs) };
}

/** The build that counts, and the newest one where that is another. */
export const readManifestRoute = appRead('/manifest', ({ app, db }) => {
  const { counts, newest } = readBuilds(db, app.id);
  return { manifest: buildToWire(counts), newest: buildToWire(newest) };
});
