/** Schema of one organisation's file: apps, knowledge, conversations and usage. */
import type { Migration } from './migrate.ts';
import { APP_HOURS, TRIED_HOURS } from './organisation-hours.ts';
import { RUNTIME_SCHEMA } from './organisation-runtime.ts';
import { SETUP_SCHEMA } from './organisation-setup.ts';

const SCHEMA = `
  -- One row: whose file this is.
  CREATE TABLE file_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    organisation_id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE apps (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE,
    platform_hint TEXT NOT NULL,
    settings TEXT NOT NULL,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    live_at_ms INTEGER,
    -- Sealed with the master key; the previous one stays valid for a time after a rotation.
    identity_secret BLOB NOT NULL,
    previous_identity_secret BLOB,
    previous_identity_secret_until_ms INTEGER,
    -- JSON { theme, themeDark, copilot } and the persona; NULL until first written.
    appearance_draft TEXT,
    experience_draft TEXT,
    persona_version INTEGER NOT NULL DEFAULT 0,
    published_version INTEGER,
    -- Rises with every change a cached copy of this row must notice.
    revision INTEGER NOT NULL DEFAULT 1,
    handshake_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    -- What the app's code was found to be made of, as agents reported it: JSON.
    detected TEXT,
    -- Who wrote the drafts last, and when; NULL: not known.
    appearance_origin TEXT,
    appearance_at_ms INTEGER,
    experience_origin TEXT,
    experience_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE publications (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    appearance TEXT,
    experience TEXT,
    published_at_ms INTEGER NOT NULL,
    PRIMARY KEY (app_id, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE manifests (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    document TEXT NOT NULL,
    sdk TEXT NOT NULL,
    first_seen_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (app_id, hash)
  ) STRICT, WITHOUT ROWID;

  -- Which of them are known to be the app's: turns used them, or they came with a test key, or first of all.
  CREATE TABLE manifest_uses (
    app_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    used_at_ms INTEGER NOT NULL,
    -- In how many hours it was used, about.
    hours INTEGER NOT NULL DEFAULT 1,
    -- It came before the app was live, or a person who signed used it: no stranger can say that of theirs.
    vouched INTEGER NOT NULL DEFAULT 0 CHECK (vouched IN (0, 1)),
    PRIMARY KEY (app_id, hash),
    FOREIGN KEY (app_id, hash) REFERENCES manifests (app_id, hash) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE knowledge_sources (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    external_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('text', 'url')),
    title TEXT NOT NULL,
    uri TEXT,
    content TEXT,
    content_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'indexing', 'indexed', 'failed')),
    error TEXT,
    archived_at_ms INTEGER,
    origin TEXT NOT NULL,
    reason TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    -- Indexings that began and have not ended: at a start, those that ended with their process.
    attempts INTEGER NOT NULL DEFAULT 0,
    UNIQUE (app_id, external_key)
  ) STRICT;

  CREATE TABLE knowledge_chunks (
    id INTEGER PRIMARY KEY,
    source_id TEXT NOT NULL REFERENCES knowledge_sources (id) ON DELETE CASCADE,
    app_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX knowledge_chunks_by_source ON knowledge_chunks (source_id, ordinal);

  -- rowid is knowledge_chunks.id. app_id is indexed as a token, so that one MATCH finds one app's chunks only.
  CREATE VIRTUAL TABLE knowledge_index USING fts5 (
    app_id, title, headings, text,
    tokenize = 'porter unicode61 remove_diacritics 2'
  );

  CREATE TABLE end_users (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    external_user_id TEXT NOT NULL,
    verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    -- What an app says of a person with a signature, sealed with the master key.
    traits_sealed BLOB,
    UNIQUE (app_id, channel, external_user_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    channel TEXT NOT NULL CHECK (channel IN ('live', 'sandbox')),
    -- '' for callers without a device header: they share one anonymous device.
    device_id TEXT NOT NULL,
    end_user_id TEXT REFERENCES end_users (id) ON DELETE CASCADE,
    -- Fence: the owner of the conversation holds this number; taking it over raises it.
    epoch INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    -- How many rows of placeholders it has: most have none, and then none are looked for.
    placeholders INTEGER NOT NULL DEFAULT 0,
    -- The node that wrote the epoch; '' where there is one only. Taking the conversation over writes both.
    owner TEXT NOT NULL DEFAULT ''
    -- Ids sort by time, so that new rows come last: an index by the id beside the table would be one page more in every turn.
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX conversations_by_app ON conversations (app_id, updated_at_ms);

  CREATE TABLE turns (
    -- Never reused: the ledger outlives the conversation it was spent on.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    -- The client's idempotency key; minted when it sent none.
    turn_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('message', 'form', 'continuation')),
    -- Keyed digest of what the client sent and who it was: a retry must match it.
    fingerprint TEXT NOT NULL,
    device_id TEXT NOT NULL,
    -- JSON of what is asked of its request later: whether it was signed, tells of a write, and which message it answers.
    request TEXT NOT NULL,
    request_id TEXT NOT NULL,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    -- JSON of what the machine's context has that a turn does not begin with.
    snapshot TEXT NOT NULL,
    model TEXT NOT NULL,
    -- First seq of the running attempt, and the seq its next event gets.
    attempt_seq INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    opened_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER,
    -- What the last commit of an attempt that ended said, as in the journal, and its first seq. Until then the seq is NULL.
    ending_seq INTEGER,
    ending TEXT,
    -- The process that runs the newest attempt, '' once it has ended, and how many attempts ended with their process.
    run_by TEXT NOT NULL DEFAULT '',
    cut_off INTEGER NOT NULL DEFAULT 0,
    UNIQUE (app_id, turn_id)
  ) STRICT;
  CREATE INDEX turns_by_conversation ON turns (conversation_id, id);
  CREATE INDEX turns_open ON turns (conversation_id) WHERE ended_at_ms IS NULL;

  CREATE TABLE messages (
    -- Twice the number of its turn, and 1 more for the assistant's. So a conversation's messages are found by its turns, in order, and
    -- neither needs an index for it or the other's id.
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    ordinal INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE blocks (
    -- 1,024 times the number of its message, and its position there, for the same reasons. No message has so many blocks: an answer has
    -- at most 256, and a few of the service's own.
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    block_type TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    fallback_text TEXT
  ) STRICT;

  -- What foreign keys would do, if these columns could be some.
  CREATE TRIGGER messages_go_with_their_turn AFTER DELETE ON turns BEGIN
    DELETE FROM messages WHERE no BETWEEN old.id * 2 AND old.id * 2 + 1;
  END;

  CREATE TRIGGER blocks_go_with_their_message AFTER DELETE ON messages BEGIN
    DELETE FROM blocks WHERE place BETWEEN old.no * 1024 AND old.no * 1024 + 1023;
  END;

  -- What a turn said, so that it can be said again: events, and for runs of deltas the lengths they had. The last piece, which is the
  -- only one of most turns, is in the row of the turn.
  CREATE TABLE turn_journal (
    turn INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    first_seq INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (turn, first_seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE invocations (
    id TEXT PRIMARY KEY,
    app_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    params TEXT NOT NULL,
    risk TEXT NOT NULL CHECK (risk IN ('read', 'write', 'destructive')),
    executor TEXT NOT NULL CHECK (executor IN ('client', 'server')),
    timeout_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- JSON of the result, or the sentence of the error, as reported.
    result TEXT,
    error TEXT,
    block_id TEXT,
    revision INTEGER NOT NULL DEFAULT 1,
    requested_at_ms INTEGER NOT NULL,
    -- When the present state runs out; NULL in states that do not.
    expires_at_ms INTEGER,
    settled_at_ms INTEGER,
    confirmed_at_ms INTEGER,
    -- Only the client said that a person agreed.
    confirmed_on_trust INTEGER NOT NULL DEFAULT 0 CHECK (confirmed_on_trust IN (0, 1)),
    -- The turn that runs (or ran) the call on the server.
    executed_by INTEGER,
    -- The action as it was when the person was asked, and their locale: JSON; NULL for reads.
    definition TEXT,
    -- Whose answer to a card was recorded: the id that the client gave its decision.
    decision_id TEXT
  ) STRICT;
  CREATE INDEX invocations_by_turn ON invocations (turn, ordinal);
  CREATE INDEX invocations_by_conversation ON invocations (conversation_id, requested_at_ms);
  CREATE INDEX invocations_due ON invocations (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

  -- One row per turn that ended well and cost something: the ledger that credit is taken by.
  CREATE TABLE charges (
    turn INTEGER PRIMARY KEY,
    app_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_microusd INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;

  -- What attempts cost that did not end well: it counts for the day's budget and ceiling, and draws no credit.
  CREATE TABLE failed_attempts (
    turn INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    app_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_microusd INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (turn, attempt)
  ) STRICT, WITHOUT ROWID;

  -- Running sums per UTC day, kept in the transactions that write the rows they count.
  CREATE TABLE usage_days (
    app_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    day TEXT NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    conversations INTEGER NOT NULL DEFAULT 0,
    cost_microusd INTEGER NOT NULL DEFAULT 0,
    -- Of attempts that did not end well; not in cost_microusd.
    failed_microusd INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (app_id, channel, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_days_by_day ON usage_days (day);

  -- Unsigned turns of the day, by where they came from: a keyed digest of the address. Gone with the day.
  CREATE TABLE address_days (
    day TEXT NOT NULL,
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    app_id TEXT NOT NULL,
    turns INTEGER NOT NULL,
    PRIMARY KEY (day, channel, address, app_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE credit_purchases (
    id INTEGER PRIMARY KEY,
    amount_microusd INTEGER NOT NULL,
    purchased_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    top_up_id TEXT
  ) STRICT;

    -- Segments of the full-text index are merged in pairs: a search opens each of them for each of its words.
    INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('usermerge', 2);

  -- Filled only while EMBEDDING_MODEL is set. A plain table: it leaves with its chunk, and needs no extension to be opened.
  CREATE TABLE knowledge_vectors (
    chunk_id INTEGER PRIMARY KEY REFERENCES knowledge_chunks (id) ON DELETE CASCADE,
    app_id TEXT NOT NULL,
    -- Who made it: rows of another model are passed over and replaced.
    model TEXT NOT NULL,
    -- A bit for each number of the vector, and the numbers as little-endian 32-bit floats.
    signature BLOB NOT NULL,
    vector BLOB NOT NULL
  ) STRICT;

  -- Holds all that the first pass of a search compares, so that it reads no vector.
  CREATE INDEX knowledge_vectors_by_app ON knowledge_vectors (app_id, model, signature);

  -- Words of a text that is replaced, archived or deleted leave the index with it, not when its segments are merged one day.
  INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('secure-delete', 1);

  -- A source's row holds its whole text, and most columns lie behind it: these hold all that is asked of many rows.
  CREATE INDEX knowledge_sources_waiting ON knowledge_sources (attempts, updated_at_ms, id, kind, state, archived_at_ms)
    WHERE state IN ('pending', 'indexing') AND archived_at_ms IS NULL;
  CREATE INDEX knowledge_sources_by_state ON knowledge_sources (app_id, state, archived_at_ms) WHERE archived_at_ms IS NULL;
`;

export const organisationMigrations: readonly Migration[] = [
  { version: 1, name: 'the schema', sql: SCHEMA + SETUP_SCHEMA + RUNTIME_SCHEMA },
  { version: 2, name: 'how apps went by the hour', sql: APP_HOURS },
  { version: 3, name: 'how what apps lean on went by the hour', sql: TRIED_HOURS },
];
