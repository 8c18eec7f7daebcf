/** Schema of an organisation's file, continued: members are written to about more than usage. */
import type { Migration } from './migrate.ts';

export const mailsMigration: Migration = {
  version: 8,
  name: 'mails to members',
  sql: `
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
    INSERT INTO member_mails
      SELECT month || ' ' || threshold, email, threshold || ' % of usage credit used',
        'See the usage of ' || month || ' in the console of the service.' || char(10),
        state, attempts, next_attempt_at_ms, created_at_ms, sent_at_ms FROM usage_mails;
    DROP TABLE usage_mails;
    CREATE INDEX member_mails_due ON member_mails (next_attempt_at_ms) WHERE next_attempt_at_ms IS NOT NULL;
  `,
};
