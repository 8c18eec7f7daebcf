/** Conversations and what was said in them: rows as read, and the fence that every owner's write passes. */
import type { Block } from '../../protocol/catalog/block.ts';
import type { Channel } from '../organisations/organisations.ts';
import type { Connection, Row } from '../sqlite/connection.ts';

export interface ConversationRow {
  readonly id: string;
  readonly appId: string;
  readonly channel: Channel;
  /** '' when the caller had no device header. */
  readonly deviceId: string;
  readonly endUserId: string | null;
  readonly epoch: number;
  /** The node that wrote the epoch; '' when it was the only one. */
  readonly owner: string;
  /** Rows of placeholders it has. */
  readonly placeholders: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StoredMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly createdAtMs: number;
  readonly blocks: readonly Block[];
}

export function readConversation(db: Connection, id: string): ConversationRow | undefined {
  const row = db.statement('SELECT * FROM conversations WHERE id = :id').get({ id });
  if (row === undefined) return undefined;
  return {
    id: row.id as string,
    appId: row.app_id as string,
    channel: row.channel as Channel,
    deviceId: row.device_id as string,
    endUserId: row.end_user_id as string | null,
    epoch: row.epoch as number,
    owner: row.owner as string,
    placeholders: row.placeholders as number,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

/** What a write of an owner expects of the conversation's row, and what it makes of it. */
export interface Fence {
  readonly expectedEpoch: number;
  /** The same number for an owner that writes on, one more for one that takes over. */
  readonly epoch: number;
  /** The node that writes; '' when there is only one. */
  readonly owner: string;
}

/** Passes the fence: true when the caller still owns the conversation at the epoch it expects; the row then has its own. */
export function passFence(db: Connection, conversationId: string, fence: Fence, nowMs: number): boolean {
  return (
    db
      .statement(
        'UPDATE conversations SET epoch = :epoch, owner = :owner, updated_at_ms = :nowMs WHERE id = :conversationId AND epoch = :expectedEpoch',
      )
      .run({ conversationId, ...fence, nowMs }).changes === 1
  );
}

export function readBlock(row: Row): Block {
  return {
    index: row.position as number,
    id: row.id as string,
    block_type: row.block_type as string,
    revision: row.revision as number,
    body: JSON.parse(row.body as string),
    ...(row.fallback_text === null ? {} : { fallback_text: row.fallback_text as string }),
  };
}

/** A block by its id; with `conversationId` only if it is that conversation's. */
export function readBlockById(db: Connection, id: string, conversationId?: string): Block | undefined {
  const row = db.statement('SELECT * FROM blocks WHERE id = :id').get({ id });
  if (row === undefined || (conversationId !== undefined && row.conversation_id !== conversationId)) return undefined;
  return readBlock(row);
}

/** So many blocks of text are at least as much as a model is told of a conversation. */
const TEXT_BLOCKS_READ = 16;

/** What the first text blocks of a message say from this position on. */
export function readTextBlocks(db: Connection, messageId: string, position: number): string[] {
  const rows = db
    .statement(
      "SELECT body FROM blocks WHERE message_id = :messageId AND position >= :position AND block_type = 'text' ORDER BY position LIMIT :limit",
    )
    .all({ messageId, position, limit: TEXT_BLOCKS_READ });
  return rows.map((row) => String((JSON.parse(row.body as string) as Block['body']).md ?? ''));
}

/** Messages of rows with `id`, `role` and `created_at_ms`. One query for the blocks of all of them: a page holds up to 200 messages. */
export function messagesOf(db: Connection, rows: readonly Row[]): StoredMessage[] {
  const blocks = new Map<unknown, Block[]>(rows.map((row) => [row.id, []]));
  const found = db
    .statement('SELECT * FROM blocks WHERE message_id IN (SELECT value FROM json_each(:ids)) ORDER BY message_id, position')
    .all({ ids: JSON.stringify([...blocks.keys()]) });
  for (const row of found) blocks.get(row.message_id)?.push(readBlock(row));
  return rows.map((row) => ({
    id: row.id as string,
    role: row.role as 'user' | 'assistant',
    createdAtMs: row.created_at_ms as number,
    blocks: blocks.get(row.id) ?? [],
  }));
}

export interface MessagesPage {
  readonly limit: number;
  /** The message that the page ends before; unknown: an empty page. */
  readonly before?: string | undefined;
  /** Also the assistant's messages that have no block: those that only called actions, or passed results on. */
  readonly wordless: boolean;
}

/** Bodies of the blocks on one page: reading, restoring and rendering 1 MB takes the event loop some 10 ms. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** How many bytes a message's blocks have, without reading them. */
export const BLOCK_BYTES = '(SELECT coalesce(sum(octet_length(body)), 0) FROM blocks WHERE message_id = messages.id) AS bytes';

/** Of rows with `bytes`, as many from the beginning as a page holds; one at least. */
export function withinPage(rows: readonly Row[]): Row[] {
  let bytes = 0;
  const beyond = rows.findIndex((row, at) => {
    bytes += row.bytes as number;
    return at > 0 && bytes > PAGE_BYTES_MAX;
  });
  return rows.slice(0, beyond < 0 ? rows.length : beyond);
}

/** The newest messages of a conversation, or those before another; oldest first. Fewer than `limit` when they are long. */
export function readMessages(db: Connection, conversationId: string, { limit, before, wordless }: MessagesPage): StoredMessage[] {
  const rows = db
    .statement(
      `SELECT id, role, created_at_ms, ${BLOCK_BYTES} FROM messages
       WHERE conversation_id = :conversationId
         AND (:wordless OR role = 'user' OR EXISTS (SELECT 1 FROM blocks WHERE message_id = messages.id))
         AND (:before IS NULL OR ordinal < (SELECT ordinal FROM messages WHERE id = :before AND conversation_id = :conversationId))
       ORDER BY ordinal DESC LIMIT :limit`,
    )
    .all({ conversationId, limit, before: before ?? null, wordless: wordless ? 1 : 0 });
  return messagesOf(db, withinPage(rows).reverse());
}

/** Whether the conversation has messages before this one that a page would show. */
export function hasEarlierMessages(db: Connection, conversationId: string, messageId: string): boolean {
  const row = db
    .statement(
      `SELECT 1 FROM messages
       WHERE conversation_id = :conversationId AND ordinal < (SELECT ordinal FROM messages WHERE id = :messageId)
         AND (role = 'user' OR EXISTS (SELECT 1 FROM blocks WHERE message_id = messages.id)) LIMIT 1`,
    )
    .get({ conversationId, messageId });
  return row !== undefined;
}

export interface NewBlock {
  readonly id: string;
  readonly position: number;
  readonly blockType: string;
  readonly revision: number;
  /** JSON of the body. */
  readonly body: string;
  readonly fallbackText: string | null;
  /** Open blocks of its type with this value in their body are replaced by it; absent: none are. */
  readonly replaces?: { readonly field: string; readonly value: string };
}

export function insertMessage(
  db: Connection,
  message: { id: string; conversationId: string; role: 'user' | 'assistant'; createdAtMs: number },
): void {
  db.statement(
    `INSERT INTO messages (id, conversation_id, ordinal, role, created_at_ms)
     VALUES (:id, :conversationId,
       (SELECT coalesce(max(ordinal), 0) + 1 FROM messages WHERE conversation_id = :conversationId), :role, :createdAtMs)`,
  ).run(message);
}

export function insertBlocks(db: Connection, conversationId: string, messageId: string, blocks: readonly NewBlock[]): void {
  const insert = db.statement(
    `INSERT INTO blocks (id, message_id, conversation_id, position, block_type, revision, body, fallback_text)
     VALUES (:id, :messageId, :conversationId, :position, :blockType, :revision, :body, :fallbackText)`,
  );
  for (const { replaces, ...block } of blocks) {
    insert.run({ ...block, messageId, conversationId });
    if (replaces !== undefined) supersede(db, conversationId, block, replaces);
  }
}

/** A block that shows the same thing anew is the one to answer from now on (BLOCK-19). */
function supersede(
  db: Connection,
  conversationId: string,
  { id, blockType }: Pick<NewBlock, 'id' | 'blockType'>,
  { field, value }: NonNullable<NewBlock['replaces']>,
): void {
  db.statement(
    `UPDATE blocks SET body = json_set(body, '$.status', 'superseded')
     WHERE message_id IN (SELECT id FROM messages WHERE conversation_id = :conversationId) AND id <> :id AND block_type = :blockType
       AND body ->> '$.status' = 'open' AND body ->> ('$.' || :field) = :value`,
  ).run({ conversationId, id, blockType, field, value });
}

/** A block whose Pick a person sets: JSON of its body as it was read, and as it becomes. */
export interface PickChange {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly fallbackText: string;
}

/** False when one of the blocks was answered or redrawn meanwhile. */
export function setPicks(db: Connection, picks: readonly PickChange[]): boolean {
  const update = db.statement('UPDATE blocks SET body = :after, fallback_text = :fallbackText WHERE id = :id AND body = :before');
  return picks.every((pick) => update.run({ ...pick }).changes === 1);
}
