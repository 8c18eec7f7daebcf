/** Schema of an organisation's file, continued: what several nodes and several cells need for coordination. */
import type { Migration } from './migrate.ts';

export const clusterMigration: Migration = {
  version: 5,
  name: 'owners of conversations, the seal, leases',
  sql: `
    -- The node that wrote the epoch; '' where nobody else can be. Whoever takes the conversation over writes both.
    ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT '';

    -- The process that runs the newest attempt, '' once it has ended, and how many attempts ended with their process.
    ALTER TABLE turns ADD COLUMN run_by TEXT NOT NULL DEFAULT '';
    ALTER TABLE turns ADD COLUMN cut_off INTEGER NOT NULL DEFAULT 0;

    -- While this row is here nothing else of the file changes: the organisation is on its way to another cell.
    CREATE TABLE seal (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      move_id TEXT NOT NULL,
      sealed_at_ms INTEGER NOT NULL
    ) STRICT;

    -- Which node does a piece of work now that one may do at a time: writes of an app, a link, a smoke test.
    CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
