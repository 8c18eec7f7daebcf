/** Console: the screens declared for an app (SCREEN-2). */
import { timestamp } from '../../protocol/timestamp.ts';
import {
  countPlanned,
  countScreens,
  listScreens,
  registeredScreens,
  type ScreenRecord,
  screensMissing,
} from '../../storage/apps/screens.ts';
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';
import { pageOf } from './pages.ts';

function screenToWire(screen: ScreenRecord, registered: ReadonlySet<string>) {
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

export const listScreensRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/screens',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params, query }, services) {
    const { app, db } = requireApp(services, params.app);
    const { items, next } = pageOf(
      query,
      (after, limit) => listScreens(db, app.id, after, limit),
      ({ name }) => name,
    );
    const registered = registeredScreens(db, app.id);
    return json({
      facts: { declared: countScreens(db, app.id), planned: countPlanned(db, app.id, registered), missing: screensMissing(db, app.id) },
      screens: items.map((screen) => screenToWire(screen, registered)),
      next,
    });
  },
});
