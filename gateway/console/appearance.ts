/** Console: the appearance draft as it was written (APPEARANCE-9). */
import { readDraft } from '../../storage/apps/drafts.ts';
import { appRead } from './app-read.ts';

export const readAppearanceRoute = appRead('/appearance', ({ app, db }) => ({
  draft: readDraft(db, app.id)?.appearance ?? null,
  published_version: app.publishedVersion,
}));
