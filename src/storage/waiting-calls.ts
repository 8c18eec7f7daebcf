/** Action calls that somebody outside the service may still answer: the client, or a person. */
import type { Connection } from './connection.ts';
import { type InvocationRow, readInvocationById } from './invocations.ts';

/** The newest `limit` such calls of a conversation, oldest first; the clock has not been asked yet. */
export function readWaitingCalls(db: Connection, conversationId: string, limit: number): InvocationRow[] {
  return db
    .statement(
      `SELECT id FROM invocations
       WHERE conversation_id = :conversationId
         AND state IN ('dispatched', 'pending.clean', 'pending.editing', 'pending.rejected', 'confirmed')
       ORDER BY requested_at_ms DESC, ordinal DESC LIMIT :limit`,
    )
    .all({ conversationId, limit })
    .flatMap((row) => readInvocationById(db, row.id as string) ?? [])
    .reverse();
}
