/** Reads of everything that is kept of a person, piece by piece, so that nobody waits for all of it at once. */
import type { Connection } from './connection.ts';

export interface PersonConversation {
  readonly id: string;
  readonly deviceId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Up to `limit` conversations of the person after the id `after` ('' for the first), oldest first. */
export function listConversationsOfPerson(db: Connection, endUserId: string, after: string, limit: number): PersonConversation[] {
  return db
    .statement(
      `SELECT id, device_id, created_at_ms, updated_at_ms FROM conversations
       WHERE end_user_id = :endUserId AND id > :after ORDER BY id LIMIT :limit`,
    )
    .all({ endUserId, after, limit })
    .map((row) => ({
      id: row.id as string,
      deviceId: row.device_id as string,
      createdAtMs: row.created_at_ms as number,
      updatedAtMs: row.updated_at_ms as number,
    }));
}

export interface Opinion {
  readonly messageId: string;
  readonly deviceId: string;
  readonly rating: number;
  /** In placeholder form. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Feedback given on these messages. */
export function readFeedbackOn(db: Connection, messageIds: readonly string[]): Opinion[] {
  return db
    .statement(
      `SELECT message_id, device_id, rating, reason, created_at_ms, updated_at_ms FROM feedback
       WHERE message_id IN (SELECT value FROM json_each(:messageIds)) ORDER BY message_id, device_id`,
    )
    .all({ messageIds: JSON.stringify(messageIds) })
    .map((row) => ({
      messageId: row.message_id as string,
      deviceId: row.device_id as string,
      rating: row.rating as number,
      reason: row.reason as string | null,
      createdAtMs: row.created_at_ms as number,
      updatedAtMs: row.updated_at_ms as number,
    }));
}

export interface GivenRating {
  readonly blockId: string;
  readonly messageId: string;
  readonly value: number;
  readonly comment: string | null;
  readonly createdAtMs: number;
}

/** Ratings given in these blocks. */
export function readRatingsIn(db: Connection, blockIds: readonly string[]): GivenRating[] {
  return db
    .statement(
      `SELECT block_id, message_id, value, comment, created_at_ms FROM ratings
       WHERE block_id IN (SELECT value FROM json_each(:blockIds)) ORDER BY block_id`,
    )
    .all({ blockIds: JSON.stringify(blockIds) })
    .map((row) => ({
      blockId: row.block_id as string,
      messageId: row.message_id as string,
      value: row.value as number,
      comment: row.comment as string | null,
      createdAtMs: row.created_at_ms as number,
    }));
}
