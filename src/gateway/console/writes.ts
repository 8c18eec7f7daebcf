/** Console: what an agent writes over the setup interface, written by hand; the same rules and the same code (decisions §2). */
import * as v from 'valibot';
import { applyWrite, type SetupWrite } from '../../actors/setup-writes.ts';
import { LOGO_MAX_BYTES } from '../../protocol/limits.ts';
import { acceptDraft } from '../../protocol/setup/accept.ts';
import { actionsBody } from '../../protocol/setup/actions.ts';
import { appearanceBody } from '../../protocol/setup/appearance.ts';
import { knowledgeBody } from '../../protocol/setup/knowledge.ts';
import { experiencePatch } from '../../protocol/setup/persona.ts';
import { screensBody } from '../../protocol/setup/screens.ts';
import { defineRoute, json, type Reply } from '../route.ts';
import type { Services } from '../services.ts';
import { requireApp } from './lookup.ts';

/** Applies the write. 422 without an error code: every item says for itself why it was not taken (service.md "Errors"). */
async function perform(appParam: string | undefined, write: SetupWrite, services: Services): Promise<Reply> {
  const { id: appId, organisationId } = requireApp(services, appParam).app;
  const written = await applyWrite(services.writes, { organisationId, appId, origin: 'console' }, write);
  await services.setup.settled(organisationId, appId);
  return json(written.reply, written.savedNothing ? 422 : 200);
}

const common = { caller: 'operator', limits: [] } as const;

export const putAppearanceRoute = defineRoute({
  method: 'PUT',
  path: '/console/api/apps/:app/appearance',
  ...common,
  // Judged below, where a wrong shape (400) and a refused value (422) are told apart.
  body: v.unknown(),
  handle({ params, body }, services) {
    return perform(params.app, { kind: 'appearance', body: acceptDraft(appearanceBody, body, 'invalid_appearance') }, services);
  },
});

export const postLogoRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/logo',
  ...common,
  body: null,
  upload: { field: 'file', maxBytes: LOGO_MAX_BYTES },
  handle({ params, upload }, services) {
    return perform(params.app, { kind: 'logo', content: Buffer.from(upload.bytes).toString('base64') }, services);
  },
});

export const putExperienceRoute = defineRoute({
  method: 'PUT',
  path: '/console/api/apps/:app/experience',
  ...common,
  // As for appearance.
  body: v.unknown(),
  handle({ params, body }, services) {
    return perform(params.app, { kind: 'experience', patch: acceptDraft(experiencePatch, body, 'invalid_experience') }, services);
  },
});

export const postKnowledgeRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/knowledge',
  ...common,
  body: knowledgeBody,
  handle: ({ params, body }, services) => perform(params.app, { kind: 'knowledge', items: body.items }, services),
});

export const postActionsRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/actions',
  ...common,
  body: actionsBody,
  handle: ({ params, body }, services) => perform(params.app, { kind: 'actions', items: body.items }, services),
});

export const postScreensRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/screens',
  ...common,
  body: screensBody,
  handle: ({ params, body }, services) => perform(params.app, { kind: 'screens', body }, services),
});
