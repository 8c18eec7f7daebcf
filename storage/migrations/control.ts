/** Schema of `control.sqlite`: organisations, whose file a key or an app belongs to, the other cells, organisations on their way. */
import type { Migration } from './migrate.ts';

const SCHEMA = `
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

  -- Of codes and tokens only the SHA-256 is kept: who reads this file cannot use them.
  CREATE TABLE setup_codes (
    code_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    organisation_id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER,
    -- When it was first reported as too old: it stays so, also when the clock is set back.
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

  CREATE TABLE pairing_directory (
    pairing_id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Every cell that was ever seen, this one too.
  CREATE TABLE cells (
    cell TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    seen_at_ms INTEGER NOT NULL,
    -- A cell that another host took over is reached where its newest term is.
    term INTEGER NOT NULL DEFAULT 1
  ) STRICT, WITHOUT ROWID;

  -- Where an organisation lives; none: where its file is. The higher version is the newer one.
  CREATE TABLE placements (
    organisation_id TEXT PRIMARY KEY,
    cell TEXT NOT NULL,
    version INTEGER NOT NULL,
    placed_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What requests name an organisation of another cell by: a digest of a key, a token, a code or an id.
  CREATE TABLE foreign_names (
    digest TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    noted_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE moves (
    organisation_id TEXT PRIMARY KEY,
    move_id TEXT NOT NULL UNIQUE,
    target_cell TEXT NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('begun', 'sealed', 'switched', 'done', 'aborted')),
    -- What the copy holds, as JSON, once it is made.
    manifest TEXT,
    error TEXT,
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE arrivals (
    organisation_id TEXT PRIMARY KEY,
    move_id TEXT NOT NULL UNIQUE,
    source_cell TEXT NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('receiving', 'adopted', 'unsealed', 'discarded')),
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What each commit of a move kept of its machine's steps. A move has some ten commits, and a cell keeps the last move of an organisation.
  CREATE TABLE move_traces (
    move_id TEXT NOT NULL,
    piece INTEGER NOT NULL,
    version TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    steps BLOB NOT NULL,
    PRIMARY KEY (move_id, piece)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER traces_go_with_their_move AFTER DELETE ON moves BEGIN
    DELETE FROM move_traces WHERE move_id = old.move_id;
  END;

  CREATE TABLE machine_definitions (
    version TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    definition TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Which cell this directory is of, and its term: it rises when another host takes the cell over.
  CREATE TABLE cell_term (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cell TEXT NOT NULL,
    term INTEGER NOT NULL,
    since_ms INTEGER NOT NULL,
    -- The address of the replica that says so too, as a digest: it may hold a password.
    replica TEXT NOT NULL DEFAULT ''
  ) STRICT;
`;

export const controlMigrations: readonly Migration[] = [
  { version: 1, name: 'the schema', sql: SCHEMA },
  // What the console shows of an organisation whose file is closed (CONSOLE-33): JSON as it was found when it was looked through last.
  { version: 2, name: 'a glance at closed files', sql: "ALTER TABLE organisation_files ADD COLUMN glance TEXT NOT NULL DEFAULT ''" },
];
