/** Console: the screens declared for an app (service.md "Screen declaration"). */
import { countPlanned, countScreens, listScreens, registeredScreens, type ScreenRecord, screensMissing } from '../../storage/screens.ts';
import { defineRoute, json } from '../route.ts';
import { pageLimit, requireApp, timestamp } from './lookup.ts';

const PAGE_DEFAULT = 100;
const PAGE_MAX = 200;

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
    const limit = pageLimit(query, PAGE_DEFAULT, PAGE_MAX);
    const page = listScreens(db, app.id, query.get('after') ?? '', limit);
    const registered = registeredScreens(db, app.id);
    return json({
      facts: { declared: countScreens(db, app.id), planned: countPlanned(db, app.id, registered), missing: screensMissing(db, app.id) },
      screens: page.map((screen) => screenToWire(screen, registered)),
      next: page.length === limit ? (page.at(-1)?.name ?? null) : null,
    });
  },
});
