/** Console: the appearance draft, by the rules of the setup interface (service.md "PUT /appearance rules"). */
import * as v from 'valibot';
import { acceptDraft } from '../../protocol/setup/accept.ts';
import { appearanceBody } from '../../protocol/setup/appearance.ts';
import { readDraft } from '../../storage/drafts.ts';
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

export const putAppearanceRoute = defineRoute({
  method: 'PUT',
  path: '/console/api/apps/:app/appearance',
  caller: 'operator',
  limits: [],
  // Judged below, where a wrong shape (400) and a refused value (422) are told apart.
  body: v.looseObject({}),
  async handle({ params, body }, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    const accepted = acceptDraft(appearanceBody, body, 'invalid_appearance');
    const { draft, changed } = await services.storage.write(organisationId, 'saveAppearanceDraft', {
      appId,
      body: accepted,
      nowMs: services.nowMs(),
    });
    return json({ saved: true, changed, draft });
  },
});
