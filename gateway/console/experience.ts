/** Console: the persona draft as it was written (PERSONA-1). */
import { readDraft } from '../../storage/apps/drafts.ts';
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';

export const readExperienceRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/experience',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params }, services) {
    const { app, db } = requireApp(services, params.app);
    const draft = readDraft(db, app.id);
    return json({ draft: draft?.experience ?? null, personaVersion: draft?.personaVersion ?? 0, published_version: app.publishedVersion });
  },
});
