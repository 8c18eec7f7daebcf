/** Turns and their messages as rows, for tests that need what was said and run no turn. */

import type { TurnState } from '../../../protocol/runtime/states.ts';
import { insertMessage } from '../../../storage/conversations/conversations.ts';
import type { Channel } from '../../../storage/organisations/organisations.ts';
import { insert } from '../../../storage/sqlite/columns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';

export interface StoredTurn {
  readonly appId: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly deviceId?: string;
  readonly state?: TurnState;
  readonly model?: string;
  readonly atMs?: number;
  /** Absent: when it was opened; null: it has not ended. */
  readonly endedAtMs?: number | null;
  /** Ids of the person's message and of the assistant's; absent: it has none (yet). */
  readonly asked?: string;
  readonly answer?: string;
}

interface StoredConversation {
  readonly id: string;
  readonly appId: string;
  readonly channel?: Channel;
  readonly deviceId?: string;
  readonly endUserId?: string | null;
  readonly epoch?: number;
  readonly atMs?: number;
}

/** A conversation without turns. */
export function storeConversation(db: Connection, { atMs = 0, ...row }: StoredConversation): void {
  insert(db, 'conversations', { channel: 'live', deviceId: '', epoch: 1, ...row, createdAtMs: atMs, updatedAtMs: atMs });
}

/** Returns the number of the turn. */
export function storeTurn(db: Connection, turn: StoredTurn): number {
  const { appId, conversationId, turnId, deviceId = '', state = 'completed', model = 'm', atMs = 1, endedAtMs = atMs } = turn;
  const insert = `INSERT INTO turns (app_id, turn_id, conversation_id, kind, fingerprint, device_id, request, request_id, state, attempt, snapshot,
      model, attempt_seq, next_seq, opened_at_ms, ended_at_ms)
    VALUES (:appId, :turnId, :conversationId, 'message', '', :deviceId, '{}', 'r', :state, 1, '{}', :model, 0, 1, :atMs, :endedAtMs)`;
  const { lastInsertRowid } = db.statement(insert).run({ appId, turnId, conversationId, deviceId, state, model, atMs, endedAtMs });
  const number = Number(lastInsertRowid);
  const said = { conversationId, turn: number, createdAtMs: atMs };
  if (turn.asked !== undefined) insertMessage(db, { ...said, id: turn.asked, role: 'user' });
  if (turn.answer !== undefined) insertMessage(db, { ...said, id: turn.answer, role: 'assistant' });
  return number;
}
