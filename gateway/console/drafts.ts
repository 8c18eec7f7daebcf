/** Console: the drafts of look and persona as they were written (APPEARANCE-9, PERSONA-1), what they come to, and publishing them for live keys. */
import * as v from 'valibot';
import { instructionsOf } from '../../actors/turns/requests.ts';
import { completeTheme, deriveDark } from '../../protocol/appearance/complete-theme.ts';
import { contrastWarnings } from '../../protocol/appearance/contrast.ts';
import { acceptDraft } from '../../protocol/setup/accept.ts';
import { type AppearanceDraft, appearanceBody } from '../../protocol/setup/appearance.ts';
import { readDraft, readPublication } from '../../storage/apps/drafts.ts';
import { json, type Route } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';

/** Both themes with their derived colours, as clients are served them. */
function served({ theme, themeDark }: AppearanceDraft) {
  return { theme: completeTheme(theme), themeDark: deriveDark(theme, themeDark) };
}

const readAppearanceRoute = appRead('/appearance', ({ app, db }) => {
  const draft = readDraft(db, app.id)?.appearance ?? null;
  return {
    draft,
    served: draft === null ? null : served(draft),
    published: readPublication(db, app.id, app.publishedVersion).appearance,
    published_version: app.publishedVersion,
  };
});

// As when it is written: a wrong shape is 400, a refused value 422.
const previewAppearanceRoute = appRoute('POST', '/appearance/preview', v.unknown(), (_, { body }) => {
  const draft = acceptDraft(appearanceBody, body, 'invalid_appearance');
  return json({ served: served(draft), warnings: contrastWarnings(draft) });
});

const readExperienceRoute = appRead('/experience', ({ app, db }, _, { writes }) => {
  const draft = readDraft(db, app.id);
  const published = readPublication(db, app.id, app.publishedVersion).experience;
  return {
    draft: draft?.experience ?? null,
    published,
    personaVersion: draft?.personaVersion ?? 0,
    published_version: app.publishedVersion,
    models: writes.models,
    instructions: { sandbox: instructionsOf(db, app, 'sandbox'), live: instructionsOf(db, app, 'live') },
  };
});

const publishRoute = appRoute('POST', '/publish', undefined, async ({ app: { id: appId, organisationId } }, _, services) => {
  return json(await services.storage.write(organisationId, 'publishDrafts', { appId, nowMs: services.nowMs() }));
});

export const draftRoutes: readonly Route[] = [readAppearanceRoute, previewAppearanceRoute, readExperienceRoute, publishRoute];
