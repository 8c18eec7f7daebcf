/** Console: the appearance and persona drafts become the published version, which live keys are served. */
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';

export const publishRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/publish',
  caller: 'operator',
  async handle({ params }, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    return json(await services.storage.write(organisationId, 'publishDrafts', { appId, nowMs: services.nowMs() }));
  },
});
