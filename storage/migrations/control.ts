/** Schema of `control.sqlite`: which organisations exist, and which file a key or an app belongs to. */
import { cellsMigration, cellTermMigration } from './control-cells.ts';
import { moveTracesMigration } from './control-traces.ts';
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

      -- Whose file was made or has arrived: one that is not there, although it is noted here, was lost and is never made anew.
      CREATE TABLE organisation_files (
        organisation_id TEXT PRIMARY KEY,
        noted_at_ms INTEGER NOT NULL,
        -- Rises when a process begins or ends to use the file: who looks it through names the number that stood here before.
        uses INTEGER NOT NULL DEFAULT 0,
        -- What was found when it was looked through last. When something in it is due; NULL: nothing is, or it is in use.
        due_at_ms INTEGER,
        -- What its apps had spent on that day (UTC).
        spent_day TEXT NOT NULL DEFAULT '',
        spent_microusd INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX organisation_files_due ON organisation_files (due_at_ms) WHERE due_at_ms IS NOT NULL;

      -- Which process writes to which file, or did when it ended; '': none has looked through it since it was put in its place.
      CREATE TABLE organisation_uses (
        used_by TEXT NOT NULL,
        organisation_id TEXT NOT NULL,
        PRIMARY KEY (used_by, organisation_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX organisation_uses_by_organisation ON organisation_uses (organisation_id);

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
  {
    version: 2,
    name: 'file codes and tokens of setup sessions',
    sql: `
      -- Of codes and tokens only the SHA-256 is kept: who reads this file cannot use them.
      CREATE TABLE setup_codes (
        code_hash TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        organisation_id TEXT NOT NULL,
        app_id TEXT NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        used_at_ms INTEGER,
        -- When somebody was told that it is too old: it stays so, whatever the clock says later.
        told_expired_at_ms INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX setup_codes_by_session ON setup_codes (session_id);

      -- One row per session: a newer file's token takes the place of the older one's.
      CREATE TABLE setup_tokens (
        session_id TEXT PRIMARY KEY,
        token_hash TEXT NOT NULL UNIQUE,
        organisation_id TEXT NOT NULL,
        app_id TEXT NOT NULL,
        minted_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE proposal_directory (
        proposal_id TEXT PRIMARY KEY,
        organisation_id TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 3,
    name: 'directory of pairings',
    sql: `
      CREATE TABLE pairing_directory (
        pairing_id TEXT PRIMARY KEY,
        organisation_id TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  cellsMigration,
  moveTracesMigration,
  cellTermMigration,
];
