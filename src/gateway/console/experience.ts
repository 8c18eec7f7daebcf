/** Console: the persona draft, by the rules of the setup interface (service.md "PUT /experience rules"). */
import * as v from 'valibot';
import { acceptDraft } from '../../protocol/setup/accept.ts';
import { experiencePatch } from '../../protocol/setup/persona.ts';
import { readDraft } from '../../storage/drafts.ts';
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

export const putExperienceRoute = defineRoute({
  method: 'PUT',
  path: '/console/api/apps/:app/experience',
  caller: 'operator',
  limits: [],
  // Judged below, where a wrong shape (400) and a refused value (422) are told apart.
  body: v.looseObject({}),
  async handle({ params, body }, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    const patch = acceptDraft(experiencePatch, body, 'invalid_experience');
    const saved = await services.storage.write(organisationId, 'saveExperienceDraft', { appId, patch, nowMs: services.nowMs() });
    return json({ saved: true, ...saved });
  },
});
