/** Version 4 of an organisation's file: devices, placeholders, confirmations, uploads, feedback and billing. */
import type { Migration } from './migrate.ts';

export const runtimeMigration: Migration = {
  version: 4,
  name: 'devices, placeholders, confirmations, uploads, feedback, pairings, billing',
  sql: `
    -- What an app says of a person with a signature, sealed with the master key.
    ALTER TABLE end_users DROP COLUMN traits;
    ALTER TABLE end_users ADD COLUMN traits_sealed BLOB;

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
    DROP INDEX conversations_by_end_user;
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
      -- The value, sealed with the master key.
      sealed BLOB NOT NULL,
      PRIMARY KEY (conversation_id, kind, number),
      UNIQUE (conversation_id, digest)
    ) STRICT, WITHOUT ROWID;
    -- How many rows of placeholders it has: most have none, and then nobody looks.
    ALTER TABLE conversations ADD COLUMN placeholders INTEGER NOT NULL DEFAULT 0;

    -- When a person agreed; NULL when nobody did (yet).
    ALTER TABLE invocations ADD COLUMN confirmed_at_ms INTEGER;
    -- Only the client said that a person agreed.
    ALTER TABLE invocations ADD COLUMN confirmed_on_trust INTEGER NOT NULL DEFAULT 0 CHECK (confirmed_on_trust IN (0, 1));
    -- The turn that runs (or ran) the call on the server.
    ALTER TABLE invocations ADD COLUMN executed_by INTEGER;
    -- The action as it was when the person was asked, and their locale: JSON; NULL for reads.
    ALTER TABLE invocations ADD COLUMN definition TEXT;
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
      -- In placeholder form.
      reason TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      PRIMARY KEY (message_id, device_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX feedback_by_app ON feedback (app_id, updated_at_ms);

    -- Answers of rating blocks.
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
      -- When it was replaced, or somebody was told that its code is too old: it stays so, whatever the clock says later.
      ended_at_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX pairings_by_app ON pairings (app_id, created_at_ms);

    -- One row per mail that a member gets in a month.
    CREATE TABLE usage_mails (
      month TEXT NOT NULL,
      threshold INTEGER NOT NULL CHECK (threshold IN (80, 100)),
      email TEXT NOT NULL,
      -- Sending: handed to the mail server, or a crash came between; it is not sent again.
      state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
      attempts INTEGER NOT NULL DEFAULT 0,
      next_attempt_at_ms INTEGER,
      created_at_ms INTEGER NOT NULL,
      sent_at_ms INTEGER,
      PRIMARY KEY (month, threshold, email)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX usage_mails_due ON usage_mails (next_attempt_at_ms) WHERE next_attempt_at_ms IS NOT NULL;

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
    ALTER TABLE credit_purchases ADD COLUMN top_up_id TEXT;
    CREATE UNIQUE INDEX credit_purchases_by_top_up ON credit_purchases (top_up_id) WHERE top_up_id IS NOT NULL;
  `,
};
