/** Conversations as the console reads them: lists of an app's, and what was said in one from its beginning. Read only. */
import type { Block } from '../../protocol/catalog/block.ts';
import type { Channel } from '../organisations/organisations.ts';
import type { Connection, Row } from '../sqlite/connection.ts';
import { BLOCK_BYTES, messagesOf, readBlock, type StoredMessage, withinPage } from './conversations.ts';
import type { PageKey } from './feedback.ts';

export interface ConversationHead {
  readonly id: string;
  readonly appId: string;
  readonly channel: Channel;
  /** '' when the caller had no device header. */
  readonly deviceId: string;
  readonly endUserId: string | null;
  readonly messages: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Rows looked at for one page of one channel: some 20 ms. An app may have millions of the other. */
const SCANNED_MAX = 5_000;

const COLUMNS = `id, app_id, channel, device_id, end_user_id, created_at_ms, updated_at_ms,
  (SELECT max(ordinal) FROM messages WHERE conversation_id = conversations.id) AS messages`;

function headOf(row: Row): ConversationHead {
  return {
    id: row.id as string,
    appId: row.app_id as string,
    channel: row.channel as Channel,
    deviceId: row.device_id as string,
    endUserId: row.end_user_id as string | null,
    messages: (row.messages as number | null) ?? 0,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

const PAGE = `FROM conversations
  WHERE app_id = :appId AND updated_at_ms <= :atMs AND (updated_at_ms < :atMs OR id < :key)
  ORDER BY updated_at_ms DESC, id DESC`;

export interface ConversationsPage {
  readonly conversations: readonly ConversationHead[];
  /** Where the next page goes on; null on the last one. A page of one channel may hold fewer than asked for and not be the last. */
  readonly next: PageKey | null;
}

/** Up to `limit` conversations of an app, of one channel or of both, those that something was said in last first. */
export function listConversations(
  db: Connection,
  appId: string,
  { channel, before, limit }: { channel: Channel | null; before: PageKey | null; limit: number },
): ConversationsPage {
  const { atMs, key } = before ?? { atMs: Number.MAX_SAFE_INTEGER, key: '' };
  const conversations = db
    .statement(
      `SELECT ${COLUMNS} FROM conversations WHERE id IN (
         SELECT id FROM (SELECT id, channel ${PAGE} LIMIT :scanned) WHERE :channel IS NULL OR channel = :channel LIMIT :limit)
       ORDER BY updated_at_ms DESC, id DESC`,
    )
    .all({ appId, atMs, key, channel, limit, scanned: SCANNED_MAX })
    .map(headOf);
  const last = conversations.at(-1);
  if (conversations.length === limit && last !== undefined) return { conversations, next: { atMs: last.updatedAtMs, key: last.id } };
  if (channel === null) return { conversations, next: null };
  const scanned = db
    .statement(`SELECT id, updated_at_ms ${PAGE} LIMIT 1 OFFSET :skipped`)
    .get({ appId, atMs, key, skipped: SCANNED_MAX - 1 });
  return { conversations, next: scanned === undefined ? null : { atMs: scanned.updated_at_ms as number, key: scanned.id as string } };
}

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

/** One conversation as a list shows it. */
export function readConversationHead(db: Connection, id: string): ConversationHead | undefined {
  const row = db.statement(`SELECT ${COLUMNS} FROM conversations WHERE id = :id`).get({ id });
  return row === undefined ? undefined : headOf(row);
}

export interface TranscriptPage {
  readonly messages: readonly StoredMessage[];
  /** The message that the next page begins after; null on the last one. A page of long messages holds fewer than asked for. */
  readonly next: string | null;
}

/** Up to `limit` messages after the one with the id `after` ('' for the first ones; unknown: none), oldest first. */
export function readTranscriptPage(db: Connection, conversationId: string, after: string, limit: number): TranscriptPage {
  const rows = db
    .statement(
      `SELECT id, role, created_at_ms, ${BLOCK_BYTES} FROM messages
       WHERE conversation_id = :conversationId
         AND ordinal > CASE :after WHEN '' THEN 0
           ELSE (SELECT ordinal FROM messages WHERE id = :after AND conversation_id = :conversationId) END
       ORDER BY ordinal LIMIT :limit`,
    )
    .all({ conversationId, after, limit });
  const held = withinPage(rows);
  const isLast = held.length === rows.length && rows.length < limit;
  return { messages: messagesOf(db, held), next: isLast ? null : ((held.at(-1)?.id as string | undefined) ?? null) };
}

export interface MessageTurn {
  readonly turn: number;
  readonly turnId: string;
  readonly state: string;
  readonly model: string;
  readonly endedAtMs: number | null;
}

/** The turns that these messages of the assistant answered, by message. */
export function readTurnsOfMessages(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, MessageTurn> {
  const rows = db
    .statement(
      `SELECT id, turn_id, state, model, ended_at_ms, assistant_message_id FROM turns
       WHERE assistant_message_id IN (SELECT value FROM json_each(:ids))`,
    )
    .all({ ids: JSON.stringify(messageIds) });
  return new Map(
    rows.map((row) => [
      row.assistant_message_id as string,
      {
        turn: row.id as number,
        turnId: row.turn_id as string,
        state: row.state as string,
        model: row.model as string,
        endedAtMs: row.ended_at_ms as number | null,
      },
    ]),
  );
}

export interface MessagePlace {
  readonly id: string;
  readonly conversationId: string;
  readonly role: 'user' | 'assistant';
}

/** Which conversation a message belongs to; says nothing about who may see it. */
export function readMessagePlace(db: Connection, id: string): MessagePlace | undefined {
  const row = db.statement('SELECT conversation_id, role FROM messages WHERE id = :id').get({ id });
  return row === undefined ? undefined : { id, conversationId: row.conversation_id as string, role: row.role as 'user' | 'assistant' };
}

/** A block by its id, if it is of that message. */
export function readBlockOfMessage(db: Connection, id: string, messageId: string): Block | undefined {
  const row = db.statement('SELECT * FROM blocks WHERE id = :id AND message_id = :messageId').get({ id, messageId });
  return row === undefined ? undefined : readBlock(row);
}

/** What a person said to open this turn, in placeholder form; null for a continuation, and for a turn that is not there. */
export function readOpeningWords(db: Connection, appId: string, turnId: string): StoredMessage | null {
  const row = db
    .statement(
      `SELECT m.id, m.role, m.created_at_ms FROM turns t JOIN messages m ON m.id = t.user_message_id
       WHERE t.app_id = :appId AND t.turn_id = :turnId`,
    )
    .get({ appId, turnId });
  return row === undefined ? null : (messagesOf(db, [row])[0] ?? null);
}
