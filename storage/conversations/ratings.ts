/** Answers of `rating` blocks: one row per block, written together with the block's Pick (FEEDBACK-4). */

import type { Channel } from '../organisations/organisations.ts';
import type { Connection, Row } from '../sqlite/connection.ts';
import { type PickChange, setPicks } from './conversations.ts';
import type { PageKey } from './feedback.ts';

export interface RatingRow {
  readonly blockId: string;
  readonly messageId: string;
  readonly conversationId: string;
  readonly channel: Channel;
  readonly value: number;
  /** In placeholder form. */
  readonly comment: string | null;
  readonly createdAtMs: number;
}

const COLUMNS = 'block_id, message_id, conversation_id, channel, value, comment, created_at_ms';

function ratingOf(row: Row): RatingRow {
  return {
    blockId: row.block_id as string,
    messageId: row.message_id as string,
    conversationId: row.conversation_id as string,
    channel: row.channel as Channel,
    value: row.value as number,
    comment: row.comment as string | null,
    createdAtMs: row.created_at_ms as number,
  };
}

/** How the block was rated; undefined when it was not, or its answer came with a turn. */
export function readRating(db: Connection, blockId: string): RatingRow | undefined {
  const row = db.statement(`SELECT ${COLUMNS} FROM ratings WHERE block_id = :blockId`).get({ blockId });
  return row === undefined ? undefined : ratingOf(row);
}

/** How these messages' blocks were rated, oldest first. */
export function readRatings(db: Connection, conversationId: string, blockIds: readonly string[]): RatingRow[] {
  return db
    .statement(
      `SELECT ${COLUMNS} FROM ratings WHERE block_id IN (SELECT value FROM json_each(:blockIds)) AND conversation_id = :conversationId
       ORDER BY created_at_ms, block_id`,
    )
    .all({ conversationId, blockIds: JSON.stringify(blockIds) })
    .map(ratingOf);
}

/** Up to `limit` of an app's, newest first; `before` null: from the newest on. A row's key is its block's id. */
export function listRatings(db: Connection, appId: string, before: PageKey | null, limit: number): RatingRow[] {
  const { atMs, key } = before ?? { atMs: Number.MAX_SAFE_INTEGER, key: '' };
  return db
    .statement(
      `SELECT ${COLUMNS} FROM ratings
       WHERE app_id = :appId AND created_at_ms <= :atMs AND (created_at_ms < :atMs OR block_id < :key)
       ORDER BY created_at_ms DESC, block_id DESC LIMIT :limit`,
    )
    .all({ appId, atMs, key, limit })
    .map(ratingOf);
}

export type NewRating = Omit<RatingRow, 'createdAtMs'> & { readonly appId: string; readonly pick: PickChange; readonly nowMs: number };

export const transactions = {
  /** Answers the block and notes how; false when the block was answered or replaced since it was read. */
  answerRating(db: Connection, { pick, ...rating }: NewRating): boolean {
    if (!setPicks(db, [pick])) return false;
    db.statement(
      `INSERT INTO ratings (block_id, message_id, app_id, conversation_id, channel, value, comment, created_at_ms)
       VALUES (:blockId, :messageId, :appId, :conversationId, :channel, :value, :comment, :nowMs)`,
    ).run(rating);
    return true;
  },

  /** Adds the words to a rating that came without any; those that came first stay. */
  commentRating(db: Connection, input: { blockId: string; comment: string }): void {
    db.statement('UPDATE ratings SET comment = :comment WHERE block_id = :blockId AND comment IS NULL').run({ ...input });
  },
};
