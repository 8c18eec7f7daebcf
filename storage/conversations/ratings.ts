/** Answers of `rating` blocks: one row per block, written together with the block's Pick (FEEDBACK-4). */

import type { Channel } from '../organisations/organisations.ts';
import { columns, insert, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { afterPage, type PageKey, pageStart } from '../sqlite/page-key.ts';
import { type PickChange, setPicks } from './blocks.ts';

const rating = columns({
  blockId: text,
  messageId: text,
  conversationId: text,
  channel: text.as<Channel>(),
  value: integer,
  comment: orNull(text),
  createdAtMs: integer,
});

export type RatingRow = RowOf<typeof rating>;

/** How the block was rated; undefined when it was not, or its answer came with a turn. */
export function readRating(db: Connection, blockId: string): RatingRow | undefined {
  return rating.get(db, 'FROM ratings WHERE block_id = :blockId', { blockId });
}

export function readRatings(db: Connection, conversationId: string, blockIds: readonly string[]): RatingRow[] {
  const from = `FROM ratings WHERE block_id IN (SELECT value FROM json_each(:blockIds)) AND conversation_id = :conversationId
    ORDER BY created_at_ms, block_id`;
  return rating.all(db, from, { conversationId, blockIds: JSON.stringify(blockIds) });
}

/** Up to `limit` of an app's, newest first; `before` null: from the newest on. A row's key is its block's id. */
export function listRatings(db: Connection, appId: string, before: PageKey | null, limit: number): RatingRow[] {
  const from = `FROM ratings WHERE app_id = :appId AND ${afterPage('created_at_ms', 'block_id')} LIMIT :limit`;
  return rating.all(db, from, { appId, limit, ...pageStart(before) });
}

type NewRating = Omit<RatingRow, 'createdAtMs'> & { readonly appId: string; readonly pick: PickChange; readonly nowMs: number };

export const transactions = {
  /** Answers the block and notes how; false when the block was answered or replaced since it was read. */
  answerRating(db: Connection, { pick, nowMs: createdAtMs, ...answer }: NewRating): boolean {
    if (!setPicks(db, [pick])) return false;
    insert(db, 'ratings', { ...answer, createdAtMs });
    return true;
  },

  /** Adds a comment to a rating that has none; an earlier comment stays. */
  commentRating(db: Connection, input: { blockId: string; comment: string }): void {
    db.statement('UPDATE ratings SET comment = :comment WHERE block_id = :blockId AND comment IS NULL').run({ ...input });
  },
};
