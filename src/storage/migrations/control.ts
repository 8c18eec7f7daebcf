/** Schema of `control.sqlite`: which organisations exist, and which file a key or an app belongs to. */
import type { Migration } from './migrate.ts';

export const controlMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'directory of organisations, apps and keys',
    sql: `
      CREATE TABLE organisations (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        plan TEXT NOT NULL,
        members TEXT NOT NULL,
        auto_top_up TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL
      ) STRICT;

      -- Ids of apps are unique across organisations; the app itself lives in its organisation's file.
      CREATE TABLE app_directory (
        app_id TEXT PRIMARY KEY,
        organisation_id TEXT NOT NULL REFERENCES organisations (id),
        created_at_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX app_directory_by_organisation ON app_directory (organisation_id, created_at_ms);

      -- Publishable keys are public by design, so they are stored as they are.
      CREATE TABLE app_keys (
        id TEXT PRIMARY KEY,
        token TEXT NOT NULL UNIQUE,
        app_id TEXT NOT NULL REFERENCES app_directory (app_id) ON DELETE CASCADE,
        organisation_id TEXT NOT NULL,
        channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
        created_at_ms INTEGER NOT NULL,
        revoked_at_ms INTEGER
      ) STRICT;
      CREATE INDEX app_keys_by_app ON app_keys (app_id, created_at_ms);

      -- Small facts about the installation, e.g. which demo app was made on the first start.
      CREATE TABLE installation (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
      ) STRICT;
    `,
  },
];
