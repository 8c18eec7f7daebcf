/** Which model's vectors the chunks of all organisations have, or are getting; in `control.sqlite`. */
import { transactions as installation, readInstallation } from '../organisations/installation.ts';
import { lookThroughAll } from '../organisations/organisation-uses.ts';
import type { Connection } from '../sqlite/connection.ts';

const NAME = 'embedding_model';

/** '' when chunks get no vectors. */
export function readEmbeddingModel(control: Connection): string {
  return readInstallation(control, NAME) ?? '';
}

/** With another model all chunks need other vectors, so every organisation is looked through. */
function noteEmbeddingModel(db: Connection, { model }: { model: string }): void {
  if (readEmbeddingModel(db) === model) return;
  if (model !== '') lookThroughAll(db);
  installation.noteInstallation(db, { name: NAME, value: model });
}

export const transactions = { noteEmbeddingModel };
