/** PUT /appearance to POST /screens: the writes of an agent, applied or, on a live app, proposed (service.md "Setup interface"). */
import * as v from 'valibot';
import { proposeWrite } from '../../actors/proposals.ts';
import type { SetupCall } from '../../actors/setup-admission.ts';
import { applyWrite, type SetupWrite, STEP_OF_WRITE } from '../../actors/setup-writes.ts';
import { LOGO_MAX_BYTES } from '../../protocol/limits.ts';
import { acceptDraft } from '../../protocol/setup/accept.ts';
import { actionsBody } from '../../protocol/setup/actions.ts';
import { appearanceBody } from '../../protocol/setup/appearance.ts';
import { knowledgeBody } from '../../protocol/setup/knowledge.ts';
import { experiencePatch } from '../../protocol/setup/persona.ts';
import { screensBody } from '../../protocol/setup/screens.ts';
import { defineRoute, json, type Reply } from '../route.ts';
import type { Services } from '../services.ts';

/** Carries a write out or keeps it for a person, and puts its line on the panel. What saved nothing leaves no line. */
async function perform({ ref, row, writes }: SetupCall, write: SetupWrite, { setup, writes: services }: Services): Promise<Reply> {
  const target = { organisationId: ref.organisationId, appId: ref.appId, origin: 'setup' };
  const proposes = writes === 'propose';
  const written = proposes ? await proposeWrite(services, target, ref.sessionId, write) : await applyWrite(services, target, write);
  if (written.savedNothing) return json(written.reply, 422);
  await setup.agent.wrote(ref, STEP_OF_WRITE[write.kind], written.line);
  // While a setup session is open nothing goes live; a sync session does not hold the app back from it.
  if (!proposes && row.kind === 'sync') await setup.settled(ref.organisationId, ref.appId);
  return json(written.reply, proposes ? 202 : 200);
}

export const appearanceRoute = defineRoute({
  method: 'PUT',
  path: '/setup/appearance',
  caller: 'setup',
  limits: [],
  // Judged below, where a wrong shape (400) and a refused value (422) are told apart.
  body: v.unknown(),
  handle({ caller, body }, services) {
    return perform(caller, { kind: 'appearance', body: acceptDraft(appearanceBody, body, 'invalid_appearance') }, services);
  },
});

export const logoRoute = defineRoute({
  method: 'POST',
  path: '/setup/logo',
  caller: 'setup',
  limits: [],
  body: null,
  upload: { field: 'file', maxBytes: LOGO_MAX_BYTES },
  handle({ caller, upload }, services) {
    return perform(caller, { kind: 'logo', content: Buffer.from(upload.bytes).toString('base64') }, services);
  },
});

export const experienceRoute = defineRoute({
  method: 'PUT',
  path: '/setup/experience',
  caller: 'setup',
  limits: [],
  // As for appearance.
  body: v.unknown(),
  handle({ caller, body }, services) {
    return perform(caller, { kind: 'experience', patch: acceptDraft(experiencePatch, body, 'invalid_experience') }, services);
  },
});

export const knowledgeRoute = defineRoute({
  method: 'POST',
  path: '/setup/knowledge',
  caller: 'setup',
  limits: [],
  body: knowledgeBody,
  handle: ({ caller, body }, services) => perform(caller, { kind: 'knowledge', items: body.items }, services),
});

export const actionsRoute = defineRoute({
  method: 'POST',
  path: '/setup/actions',
  caller: 'setup',
  limits: [],
  body: actionsBody,
  handle: ({ caller, body }, services) => perform(caller, { kind: 'actions', items: body.items }, services),
});

export const screensRoute = defineRoute({
  method: 'POST',
  path: '/setup/screens',
  caller: 'setup',
  limits: [],
  body: screensBody,
  handle: ({ caller, body }, services) => perform(caller, { kind: 'screens', body }, services),
});
