/** Schema of an organisation's file, continued: conversations are found by what people thought of them. */
import type { Migration } from './migrate.ts';

export const opinionsMigration: Migration = {
  version: 7,
  name: 'thumbs of a conversation',
  sql: `
    CREATE INDEX feedback_by_conversation ON feedback (conversation_id, rating);
  `,
};
