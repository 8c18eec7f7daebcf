/** Conversations as the people who hold them list them: those of a device and of persons, newest first. Read only; whose they are is decided by the caller. */

import type { Channel } from '../organisations/organisations.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface OwnConversation {
  readonly id: string;
  /** Rows of placeholders it has. */
  readonly placeholders: number;
  /** What the person said first, in placeholder form; '' when that has no words. */
  readonly firstWords: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Holder {
  readonly appId: string;
  readonly channel: Channel;
  /** Its anonymous ones are listed; '': none are. */
  readonly deviceId: string;
  /** The `usr_` id the device stands for: it lists what that person held on it. Null: nobody; it lists what anybody held on it. */
  readonly boundTo: string | null;
  /** `usr_` ids: all of theirs are listed. */
  readonly people: readonly string[];
}

interface Place {
  readonly updatedAtMs: number;
  readonly id: string;
}

/** After every row. */
const NEWEST: Place = { updatedAtMs: Number.MAX_SAFE_INTEGER, id: '' };

const PAGE = 'AND (updated_at_ms, id) < (:updatedAtMs, :id) ORDER BY updated_at_ms DESC, id DESC LIMIT :limit';

/** Up to `limit` of them before `before`, those that something was said in last first. */
export function listOwnConversations(db: Connection, holder: Holder, before: Place = NEWEST, limit = 1): OwnConversation[] {
  const { appId, channel, deviceId, boundTo, people } = holder;
  const { updatedAtMs, id } = before;
  const page = { updatedAtMs, id, limit };
  const ofDevice =
    deviceId === ''
      ? []
      : db
          .statement(
            `SELECT id, updated_at_ms FROM conversations
             WHERE app_id = :appId AND channel = :channel AND device_id = :deviceId AND coalesce(end_user_id = :boundTo, TRUE) ${PAGE}`,
          )
          .all({ appId, channel, deviceId, boundTo, ...page });
  const ofPeople = people.flatMap((person) =>
    db.statement(`SELECT id, updated_at_ms FROM conversations WHERE end_user_id = :person ${PAGE}`).all({ person, ...page }),
  );
  const ids = [...new Set([...ofDevice, ...ofPeople].map((row) => row.id as string))];
  return db
    .statement(
      `SELECT id, placeholders, created_at_ms, updated_at_ms,
         (SELECT b.body ->> '$.md' FROM messages m JOIN blocks b ON b.message_id = m.id
          WHERE m.conversation_id = conversations.id AND m.role = 'user' ORDER BY m.ordinal, b.position LIMIT 1) AS first_words
       FROM conversations WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY updated_at_ms DESC, id DESC LIMIT :limit`,
    )
    .all({ ids: JSON.stringify(ids), limit })
    .map((row) => ({
      id: row.id as string,
      placeholders: row.placeholders as number,
      firstWords: (row.first_words as string | null) ?? '',
      createdAtMs: row.created_at_ms as number,
      updatedAtMs: row.updated_at_ms as number,
    }));
}
