/** Console: the appearance draft as it was written (APPEARANCE-9). */
import { readDraft } from '../../storage/apps/drafts.ts';
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';

export const readAppearanceRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/appearance',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params }, services) {
    const { app, db } = requireApp(services, params.app);
    return json({ draft: readDraft(db, app.id)?.appearance ?? null, published_version: app.publishedVersion });
  },
});
