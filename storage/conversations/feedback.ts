/** Thumbs up and down under an answer: one row per (message, device) (FEEDBACK-1). */

import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { afterPage, type PageKey, pageStart } from '../sqlite/page-key.ts';

const KEY = `message_id || '/' || substr(device_id, -4)`;

const feedback = columns({
  messageId: text,
  conversationId: text,
  deviceId: text,
  channel: text.as<Channel>(),
  rating: integer.as<1 | -1>(),
  reason: orNull(text),
  createdAtMs: integer,
  updatedAtMs: integer,
  /** Orders rows of the same time; reveals no more of the device than the console shows. */
  key: text.from(KEY),
});

export type FeedbackRow = RowOf<typeof feedback>;

/** Up to `limit` of an app's, those changed last first; `before` null: from the newest on. */
export function listFeedback(db: Connection, appId: string, before: PageKey | null, limit: number): FeedbackRow[] {
  const from = `FROM feedback WHERE app_id = :appId AND ${afterPage('updated_at_ms', KEY)} LIMIT :limit`;
  return feedback.all(db, from, { appId, limit, ...pageStart(before) });
}

export function readFeedback(db: Connection, messageIds: readonly string[]): FeedbackRow[] {
  const from = 'FROM feedback WHERE message_id IN (SELECT value FROM json_each(:ids)) ORDER BY created_at_ms, device_id';
  return feedback.all(db, from, { ids: JSON.stringify(messageIds) });
}

type NewFeedback = Pick<FeedbackRow, 'messageId' | 'conversationId' | 'deviceId' | 'channel' | 'rating'> & {
  readonly appId: string;
  /** In placeholder form. Null: removed. Undefined: not given, so the earlier reason stays as long as the rating does. */
  readonly reason: string | null | undefined;
  readonly nowMs: number;
};

export const transactions = {
  /** Stores or changes a device's feedback on an answer; false when the message no longer exists. */
  giveFeedback(db: Connection, { reason, ...input }: NewFeedback): boolean {
    const insert = `INSERT INTO feedback (message_id, device_id, app_id, conversation_id, channel, rating, reason, created_at_ms, updated_at_ms)
      SELECT id, :deviceId, :appId, :conversationId, :channel, :rating, :reason, :nowMs, :nowMs FROM messages WHERE id = :messageId
      ON CONFLICT (message_id, device_id) DO UPDATE SET
        reason = CASE WHEN :keeps AND rating = excluded.rating THEN reason ELSE excluded.reason END,
        rating = excluded.rating, updated_at_ms = excluded.updated_at_ms`;
    return db.statement(insert).run({ ...input, reason: reason ?? null, keeps: reason === undefined ? 1 : 0 }).changes === 1;
  },
};
