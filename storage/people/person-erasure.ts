/** Erases a person, their conversations, or one of those, and what binds devices to them. The ledger stays: it names turns and amounts, no people. */
import { Refusal } from '../../protocol/errors.ts';
import { OF_TURNS } from '../conversations/conversations.ts';
import { readIds, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { unbindPerson } from './devices.ts';
import { readEndUserById } from './end-users.ts';

/** Conversations erased in one transaction: other writes wait meanwhile, so a person with many needs several. */
export const CONVERSATIONS_PER_ERASURE = 50;

interface Erasure {
  readonly done: boolean;
  readonly conversations: number;
  /** Erased uploads, whose files the caller deletes; after a crash the sweep at the next start deletes them. */
  readonly uploadIds: readonly string[];
}

function deleteUnusedUploads(db: Connection, endUserId: string): string[] {
  const remove = `DELETE FROM uploads WHERE message_id IS NULL AND expires_at_ms IS NOT NULL AND (app_id, channel, device_id) IN
      (SELECT app_id, channel, device_id FROM devices WHERE end_user_id = :endUserId) RETURNING id`;
  return readValues(db, text, remove, { endUserId });
}

/** Its uploads, whose files the caller deletes. One that is not there is none. */
function eraseConversation(db: Connection, { id }: { id: string }): readonly string[] {
  const used = `FROM uploads WHERE message_id IN (SELECT messages.id FROM ${OF_TURNS} WHERE conversation_id = :id)`;
  const uploadIds = readIds(db, used, { id });
  db.statement('DELETE FROM conversations WHERE id = :id').run({ id });
  return uploadIds;
}

/** Running turns of an erased conversation find no row at their fence, and end. @throws Refusal not_found. */
function erasePerson(db: Connection, { appId, endUserId }: { appId: string; endUserId: string }): Erasure {
  if (readEndUserById(db, appId, endUserId) === undefined) throw new Refusal('not_found', `App ${appId} has no person ${endUserId}.`);
  const theirs = 'FROM conversations WHERE end_user_id = :endUserId ORDER BY id LIMIT :limit';
  const conversations = readIds(db, theirs, { endUserId, limit: CONVERSATIONS_PER_ERASURE + 1 });
  const erased = conversations.slice(0, CONVERSATIONS_PER_ERASURE);
  const uploadIds: string[] = [];
  for (const id of erased) uploadIds.push(...eraseConversation(db, { id }));
  if (conversations.length > CONVERSATIONS_PER_ERASURE) return { done: false, conversations: erased.length, uploadIds };
  uploadIds.push(...deleteUnusedUploads(db, endUserId));
  unbindPerson(db, endUserId);
  db.statement('DELETE FROM end_users WHERE id = :endUserId').run({ endUserId });
  return { done: true, conversations: erased.length, uploadIds };
}

export const transactions = { erasePerson, eraseConversation };
