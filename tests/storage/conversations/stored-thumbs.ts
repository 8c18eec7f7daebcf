/** Thumbs under answers as rows, for tests that need what people thought. */
import { transactions } from '../../../storage/conversations/feedback.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';

export interface StoredThumb {
  readonly appId: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly deviceId: string;
  readonly rating: 1 | -1;
  readonly atMs: number;
}

export function giveThumb(db: Connection, { atMs, ...thumb }: StoredThumb): void {
  transactions.giveFeedback(db, { ...thumb, channel: 'sandbox', reason: undefined, nowMs: atMs });
}
