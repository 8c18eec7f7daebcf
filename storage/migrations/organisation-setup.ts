/** Schema of an organisation's file, continued: setup sessions and what they write. */
export const SETUP_SCHEMA = `
  CREATE TABLE setup_sessions (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('setup', 'sync')),
    state TEXT NOT NULL,
    -- Context of the session's machine; state and context of its panel's: JSON.
    snapshot TEXT NOT NULL,
    panel TEXT NOT NULL,
    -- Rises with every change: a write names the one that was read.
    revision INTEGER NOT NULL,
    next_event INTEGER NOT NULL,
    -- What POST /complete or /fail said: JSON.
    outcome TEXT,
    opened_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    closed_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX setup_sessions_open ON setup_sessions (app_id) WHERE closed_at_ms IS NULL;
  CREATE INDEX setup_sessions_by_app ON setup_sessions (app_id, opened_at_ms);
  CREATE INDEX setup_sessions_due ON setup_sessions (expires_at_ms) WHERE closed_at_ms IS NULL;

  CREATE TABLE setup_events (
    session_id TEXT NOT NULL REFERENCES setup_sessions (id) ON DELETE CASCADE,
    id INTEGER NOT NULL,
    step TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    detail TEXT,
    data TEXT,
    -- Who said it: the agent, or the server of what it saw.
    origin TEXT NOT NULL CHECK (origin IN ('agent', 'server')),
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (session_id, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE http_actions (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    external_key TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Host of url_template: what a shared key belongs to.
    host TEXT NOT NULL,
    -- The host that people's tokens go to, or last went to: moved by people only. NULL: to none yet.
    token_host TEXT,
    -- The item as it was accepted, without its reason: JSON.
    definition TEXT NOT NULL,
    origin TEXT NOT NULL,
    reason TEXT,
    archived_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (app_id, external_key)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX http_actions_by_name ON http_actions (app_id, name) WHERE archived_at_ms IS NULL;

  -- Keys that a person entered, one per host, sealed with the master key.
  CREATE TABLE shared_keys (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (app_id, host)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE screens (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    origin TEXT NOT NULL,
    reason TEXT,
    archived_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (app_id, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE smoke_runs (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    platform_failure INTEGER NOT NULL CHECK (platform_failure IN (0, 1)),
    results TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX smoke_runs_by_app ON smoke_runs (app_id, created_at_ms);

  CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    -- Names no row for long: a proposal outlives its session.
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('appearance', 'logo', 'experience', 'knowledge', 'actions', 'screens')),
    -- SHA-256 of what the write would replace, as it was when it was proposed.
    base TEXT NOT NULL,
    summary TEXT NOT NULL,
    -- Applying: its approval was begun, and a crash may have cut it off.
    state TEXT NOT NULL CHECK (state IN ('pending', 'applying', 'approved', 'rejected', 'replaced')),
    reason TEXT,
    -- The proposal that took its place, where one did.
    replaced_by TEXT,
    created_at_ms INTEGER NOT NULL,
    decided_at_ms INTEGER,
    -- What the write is about, within its kind: JSON, a list.
    subjects TEXT NOT NULL,
    -- Of the write without its reasons.
    payload_hash TEXT NOT NULL,
    payload_bytes INTEGER NOT NULL,
    -- The accepted body: JSON. Last, so that the other columns are read without it.
    payload TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX proposals_by_app ON proposals (app_id, id);
  CREATE INDEX proposals_undecided ON proposals (app_id) WHERE decided_at_ms IS NULL;

  CREATE TABLE assets (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    content BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX assets_by_app ON assets (app_id, created_at_ms);
`;
