/** Schema of an organisation's file, continued: devices, placeholders, uploads, feedback, pairings, billing, traces, the seal, leases. */
export const RUNTIME_SCHEMA = `
  -- What was said of a person without a signature, for each device that said so; the highest seq is the newest.
  CREATE TABLE device_traits (
    seq INTEGER PRIMARY KEY,
    end_user_id TEXT NOT NULL REFERENCES end_users (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    traits_sealed BLOB NOT NULL,
    UNIQUE (end_user_id, device_id)
  ) STRICT;

  -- An installation of an app: when it was last seen (live keys only), and whom POST /v1/identify bound it to.
  CREATE TABLE devices (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    device_id TEXT NOT NULL,
    seen_at_ms INTEGER,
    end_user_id TEXT REFERENCES end_users (id) ON DELETE SET NULL,
    -- A signature came with the binding.
    proven INTEGER NOT NULL DEFAULT 0 CHECK (proven IN (0, 1)),
    bound_at_ms INTEGER,
    PRIMARY KEY (app_id, channel, device_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX devices_seen ON devices (seen_at_ms) WHERE seen_at_ms IS NOT NULL;
  CREATE INDEX devices_by_end_user ON devices (end_user_id) WHERE end_user_id IS NOT NULL;

  -- A list of people or of one person's conversations begins anywhere in it, however many there are.
  CREATE INDEX end_users_by_app ON end_users (app_id, id);
  CREATE INDEX conversations_by_end_user ON conversations (end_user_id, id) WHERE end_user_id IS NOT NULL;
  CREATE INDEX conversations_of_person ON conversations (end_user_id, updated_at_ms, id) WHERE end_user_id IS NOT NULL;
  CREATE INDEX conversations_by_device ON conversations (app_id, channel, device_id, updated_at_ms, id);

  -- Personal data that a placeholder stands for in everything the conversation holds, e.g. email 1.
  CREATE TABLE placeholders (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- Keyed digest of the value: the same value keeps its number.
    digest BLOB NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (conversation_id, kind, number),
    UNIQUE (conversation_id, digest)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX invocations_executed_by ON invocations (executed_by) WHERE executed_by IS NOT NULL;
  CREATE INDEX invocations_executing ON invocations (conversation_id) WHERE state = 'executing';

  -- What people attached; the file itself lies beside the database, sealed.
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    device_id TEXT NOT NULL,
    -- Keyed digest of the client's address: what addresses may keep here is counted. '' once a message uses it.
    address TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    -- When it goes unless a message uses it; NULL once one does.
    expires_at_ms INTEGER,
    message_id TEXT REFERENCES messages (id) ON DELETE CASCADE,
    position INTEGER,
    -- The words in it as the model was given them, in placeholder form; NULL for images.
    text TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uploads_by_message ON uploads (message_id, position) WHERE message_id IS NOT NULL;
  CREATE INDEX uploads_by_app ON uploads (app_id, id);
  CREATE INDEX uploads_unused ON uploads (app_id, channel, created_at_ms, device_id, address, size) WHERE expires_at_ms IS NOT NULL;
  CREATE INDEX uploads_due ON uploads (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

  CREATE TABLE feedback (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    rating INTEGER NOT NULL CHECK (rating IN (-1, 1)),
    reason TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (message_id, device_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feedback_by_app ON feedback (app_id, updated_at_ms);

  CREATE TABLE ratings (
    block_id TEXT PRIMARY KEY,
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    app_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    value INTEGER NOT NULL,
    comment TEXT,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ratings_by_app ON ratings (app_id, created_at_ms);
  CREATE INDEX ratings_by_message ON ratings (message_id);

  CREATE TABLE pairings (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    -- SHA-256: who reads this file cannot claim it.
    code_hash TEXT NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    code_expires_at_ms INTEGER NOT NULL,
    claimed_at_ms INTEGER,
    device_id TEXT,
    watched_until_ms INTEGER,
    -- When it was replaced, or its code was first reported as too old: it stays so, also when the clock is set back.
    ended_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pairings_by_app ON pairings (app_id, created_at_ms);

  CREATE TABLE top_ups (
    id TEXT PRIMARY KEY,
    amount_microusd INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'charged', 'manual', 'failed')),
    -- The payment's id at the card processor, or why there is none.
    payment_id TEXT,
    error TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    settled_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;

  -- One at a time: credit falls below the line once, however many turns see it.
  CREATE UNIQUE INDEX top_ups_pending ON top_ups (state) WHERE state = 'pending';
  CREATE UNIQUE INDEX credit_purchases_by_top_up ON credit_purchases (top_up_id) WHERE top_up_id IS NOT NULL;

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

  -- What a commit kept of the steps of a turn, or of one of its action calls: one row a commit, at the end of the table while turns are
  -- answered. Ordered by the turn's number, so that it needs no index, and the oldest lie together when they are deleted.
  CREATE TABLE turn_traces (
    turn INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    -- The action call; '' for the turn itself.
    invocation TEXT NOT NULL,
    version TEXT NOT NULL,
    -- The process that wrote it; '' where that is not known.
    node TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    steps BLOB NOT NULL,
    PRIMARY KEY (turn, piece)
  ) STRICT, WITHOUT ROWID;

  -- What a foreign key would do, without looking the turn up for each row.
  CREATE TRIGGER traces_go_with_their_turn AFTER DELETE ON turns BEGIN
    DELETE FROM turn_traces WHERE turn = old.id;
  END;

  -- The same of everything else that is an app's: setup sessions and their panels, knowledge sources.
  CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    machine TEXT NOT NULL,
    instance TEXT NOT NULL,
    version TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    steps BLOB NOT NULL
  ) STRICT;
  CREATE INDEX traces_by_instance ON traces (instance, machine, id);
  CREATE INDEX traces_by_app ON traces (app_id, id);

  -- Each definition that a trace was made with, as JSON: an old trace is read with its own, also after an update.
  CREATE TABLE machine_definitions (
    version TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    definition TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feedback_by_conversation ON feedback (conversation_id, rating);

  -- One row per mail that a member gets: of a month's usage, of an app that went live.
  CREATE TABLE member_mails (
    about TEXT NOT NULL,
    email TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Sending: handed to the mail server, or a crash came between; it is not sent again.
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    sent_at_ms INTEGER,
    PRIMARY KEY (about, email)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX member_mails_due ON member_mails (next_attempt_at_ms) WHERE next_attempt_at_ms IS NOT NULL;
`;
