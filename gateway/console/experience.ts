/** Console: the persona draft as it was written (PERSONA-1), and what a model is told of it. */
import { instructionsOf } from '../../actors/turns/instructions.ts';
import { readDraft, readPublication } from '../../storage/apps/drafts.ts';
import { appRead } from './app-read.ts';

export const readExperienceRoute = appRead('/experience', ({ app, db }) => {
  const draft = readDraft(db, app.id);
  const published = readPublication(db, app.id, app.publishedVersion).experience;
  return {
    draft: draft?.experience ?? null,
    published,
    personaVersion: draft?.personaVersion ?? 0,
    published_version: app.publishedVersion,
    instructions: { sandbox: instructionsOf(db, app, 'sandbox'), live: instructionsOf(db, app, 'live') },
  };
});
