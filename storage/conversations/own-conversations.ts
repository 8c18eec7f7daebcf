/** The conversations of a device and of its persons, newest first, as they list them. Read only; the caller decides whose they are. */

import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, type RowOf, readIds, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { placeIn } from './blocks.ts';

/** SQL for the person's first message in placeholder form, beside a row of `conversations`; '' when it has no text. */
export const FIRST_WORDS = `coalesce((SELECT b.body ->> '$.md' FROM turns t CROSS JOIN blocks b ON b.${placeIn('(t.id * 2)')}
       WHERE t.conversation_id = conversations.id ORDER BY t.id, b.place LIMIT 1), '')`;

const ownConversation = columns({
  id: text,
  placeholders: integer,
  firstWords: text.from(FIRST_WORDS),
  createdAtMs: integer,
  updatedAtMs: integer,
});

export type OwnConversation = RowOf<typeof ownConversation>;

export interface Holder {
  readonly appId: string;
  readonly channel: Channel;
  /** The device whose anonymous conversations are listed; '': none. */
  readonly deviceId: string;
  /** The `usr_` id that the device stands for: only that person's conversations on it are listed. Null: for no person, so all on it are. */
  readonly boundTo: string | null;
  readonly people: readonly string[];
}

interface Place {
  readonly updatedAtMs: number;
  readonly id: string;
}

const NEWEST: Place = { updatedAtMs: Number.MAX_SAFE_INTEGER, id: '' };

const PAGE = 'AND (updated_at_ms, id) < (:updatedAtMs, :id) ORDER BY updated_at_ms DESC, id DESC LIMIT :limit';

/** Up to `limit` of them before `before`, the most recently active first. */
export function listOwnConversations(db: Connection, holder: Holder, before: Place = NEWEST, limit = 1): OwnConversation[] {
  const { appId, channel, deviceId, boundTo, people } = holder;
  const { updatedAtMs, id } = before;
  const page = { updatedAtMs, id, limit };
  const ofDevice =
    deviceId === ''
      ? []
      : readIds(
          db,
          `FROM conversations
           WHERE app_id = :appId AND channel = :channel AND device_id = :deviceId AND coalesce(end_user_id = :boundTo, TRUE) ${PAGE}`,
          { appId, channel, deviceId, boundTo, ...page },
        );
  const ofPeople = people.flatMap((person) => readIds(db, `FROM conversations WHERE end_user_id = :person ${PAGE}`, { person, ...page }));
  const ids = [...new Set([...ofDevice, ...ofPeople])];
  const from = 'FROM conversations WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY updated_at_ms DESC, id DESC LIMIT :limit';
  return ownConversation.all(db, from, { ids: JSON.stringify(ids), limit });
}
