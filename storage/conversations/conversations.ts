/** Conversations and their messages: rows as read, and the fence that every owner's write passes. */
import type { Block } from '../../protocol/catalog/block.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, json, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const conversation = columns({
  id: text,
  appId: text,
  channel: text.as<Channel>(),
  /** '' when the caller had no device header. */
  deviceId: text,
  endUserId: orNull(text),
  epoch: integer,
  /** The node that wrote the epoch; '' when it was the only one. */
  owner: text,
  /** Rows of placeholders it has. */
  placeholders: integer,
  createdAtMs: integer,
  /** When its latest turn was opened. */
  updatedAtMs: integer,
});

export type ConversationRow = RowOf<typeof conversation>;

/** The columns of a message without its blocks, which are read separately. */
const message = {
  /** By which its blocks are found. */
  no: integer,
  id: text,
  role: text.as<'user' | 'assistant'>(),
  createdAtMs: integer,
};

export const messageHead = columns(message);
type MessageHead = RowOf<typeof messageHead>;

export interface StoredMessage extends MessageHead {
  readonly blocks: readonly Block[];
}

export function readConversation(db: Connection, id: string): ConversationRow | undefined {
  return conversation.get(db, 'FROM conversations WHERE id = :id', { id });
}

/** What an owner's write expects in the conversation's row, and what it puts there. */
export interface Fence {
  readonly expectedEpoch: number;
  /** The same number for an owner that writes on, one more for one that takes over. */
  readonly epoch: number;
  /** The node that writes; '' when there is only one. */
  readonly owner: string;
}

const held = columns({ epoch: integer, owner: text });

/**
 * Passes the fence: true when the row still has the expected epoch; the row then has the caller's epoch and owner. An owner that writes on
 * finds both there, and then no page is written.
 */
export function passFence(db: Connection, conversationId: string, { expectedEpoch, epoch, owner }: Fence): boolean {
  const row = held.get(db, 'FROM conversations WHERE id = :conversationId', { conversationId });
  if (row?.epoch !== expectedEpoch) return false;
  if (row.epoch !== epoch || row.owner !== owner)
    db.statement('UPDATE conversations SET epoch = :epoch, owner = :owner WHERE id = :conversationId').run({
      conversationId,
      epoch,
      owner,
    });
  return true;
}

/** As `passFence`, for a new turn or a new attempt at one: lists are sorted by the time at which something was said last. */
export function enterPastFence(db: Connection, conversationId: string, fence: Fence, nowMs: number): boolean {
  const { expectedEpoch, epoch, owner } = fence;
  return (
    db
      .statement(
        'UPDATE conversations SET epoch = :epoch, owner = :owner, updated_at_ms = :nowMs WHERE id = :conversationId AND epoch = :expectedEpoch',
      )
      .run({ conversationId, expectedEpoch, epoch, owner, nowMs }).changes === 1
  );
}

/** As in the schema: numbers of messages times this, and positions below it, are the places of blocks. */
const PLACES_PER_MESSAGE = 1024;

/** SQL for blocks at the places of one message; `no`: the SQL of its number. */
export function placeIn(no: string): string {
  return `place BETWEEN ${no} * ${PLACES_PER_MESSAGE} AND ${no} * ${PLACES_PER_MESSAGE} + ${PLACES_PER_MESSAGE - 1}`;
}

const blockColumns = {
  id: text,
  index: integer.from(`place % ${PLACES_PER_MESSAGE}`),
  blockType: text,
  revision: integer,
  body: json<Block['body']>(),
  fallbackText: orNull(text),
};

const block = columns(blockColumns);
const blockOfPage = columns({ ...blockColumns, messageNo: integer.from(`place / ${PLACES_PER_MESSAGE}`) });

function blockOf({ index, id, blockType, revision, body, fallbackText }: RowOf<typeof block>): Block {
  return { index, id, block_type: blockType, revision, body, ...(fallbackText === null ? {} : { fallback_text: fallbackText }) };
}

/** A block by its id. */
export function readBlockById(db: Connection, id: string): Block | undefined {
  const row = block.get(db, 'FROM blocks WHERE id = :id', { id });
  return row === undefined ? undefined : blockOf(row);
}

const MESSAGE_OF_BLOCK = `FROM messages WHERE no = blocks.place / ${PLACES_PER_MESSAGE}`;

/** A block by its id, if it is of that conversation. */
export function readBlockOfConversation(db: Connection, id: string, conversationId: string): Block | undefined {
  const from = `FROM blocks WHERE id = :id AND (SELECT conversation_id ${MESSAGE_OF_BLOCK}) = :conversationId`;
  const row = block.get(db, from, { id, conversationId });
  return row === undefined ? undefined : blockOf(row);
}

/** A block by its id, if it is of that message. */
export function readBlockOfMessage(db: Connection, id: string, messageId: string): Block | undefined {
  const row = block.get(db, `FROM blocks WHERE id = :id AND (SELECT id ${MESSAGE_OF_BLOCK}) = :messageId`, { id, messageId });
  return row === undefined ? undefined : blockOf(row);
}

const blockBody = columns({ body: json<Block['body']>() });

/** This many text blocks hold at least as much as a model is given of a conversation. */
const TEXT_BLOCKS_READ = 16;

/** The texts of a message's first text blocks from this position on. */
export function readTextBlocks(db: Connection, messageId: string, position: number): string[] {
  const rows = blockBody.all(
    db,
    `FROM messages CROSS JOIN blocks ON ${placeIn('messages.no')}
     WHERE messages.id = :messageId AND place >= no * ${PLACES_PER_MESSAGE} + :position AND block_type = 'text' ORDER BY place LIMIT :limit`,
    { messageId, position, limit: TEXT_BLOCKS_READ },
  );
  return rows.map(({ body }) => String(body.md ?? ''));
}

/** The messages with their blocks. One query for the blocks of all of them: a page holds up to 200 messages. */
export function messagesOf(db: Connection, heads: readonly MessageHead[]): StoredMessage[] {
  const blocks = new Map<number, Block[]>(heads.map(({ no }) => [no, []]));
  const found = blockOfPage.all(
    db,
    `FROM (SELECT value AS no FROM json_each(:numbers)) AS page CROSS JOIN blocks ON ${placeIn('page.no')} ORDER BY place`,
    { numbers: JSON.stringify([...blocks.keys()]) },
  );
  for (const row of found) blocks.get(row.messageNo)?.push(blockOf(row));
  return heads.map(({ no, id, role, createdAtMs }) => ({ id, role, createdAtMs, blocks: blocks.get(no) ?? [] }));
}

export interface MessagesPage {
  readonly limit: number;
  /** The id of the message after the page; an unknown id gives an empty page. */
  readonly before?: string | undefined;
  /** True: includes the assistant's messages without blocks, which only called actions or passed results on. */
  readonly wordless: boolean;
}

/** Bodies of the blocks on one page: reading, restoring and rendering 1 MB takes the event loop some 10 ms. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** A message of a page, with the size of its blocks, which SQLite knows without reading them. */
export const pageMessage = columns({
  ...message,
  bytes: integer.from(`(SELECT coalesce(sum(octet_length(body)), 0) FROM blocks WHERE ${placeIn('messages.no')})`),
});

type PageMessage = RowOf<typeof pageMessage>;

/** As many messages from the beginning as fit into a page; at least one. */
export function withinPage(messages: readonly PageMessage[]): PageMessage[] {
  let bytes = 0;
  const beyond = messages.findIndex((one, at) => {
    bytes += one.bytes;
    return at > 0 && bytes > PAGE_BYTES_MAX;
  });
  return messages.slice(0, beyond < 0 ? messages.length : beyond);
}

/** The newest messages of a conversation, or those before another; oldest first. Fewer than `limit` when they are long. */
export function readMessages(db: Connection, conversationId: string, { limit, before, wordless }: MessagesPage): StoredMessage[] {
  const newestFirst = pageMessage.all(
    db,
    `FROM messages
     WHERE conversation_id = :conversationId
       AND (:wordless OR role = 'user' OR EXISTS (SELECT 1 FROM blocks WHERE ${placeIn('messages.no')}))
       AND (:before IS NULL OR ordinal < (SELECT ordinal FROM messages WHERE id = :before AND conversation_id = :conversationId))
     ORDER BY ordinal DESC LIMIT :limit`,
    { conversationId, limit, before: before ?? null, wordless: wordless ? 1 : 0 },
  );
  return messagesOf(db, withinPage(newestFirst).reverse());
}

/** Whether the conversation has messages before this one that a page would show. */
export function hasEarlierMessages(db: Connection, conversationId: string, messageId: string): boolean {
  const row = db
    .statement(
      `SELECT 1 FROM messages
       WHERE conversation_id = :conversationId AND ordinal < (SELECT ordinal FROM messages WHERE id = :messageId)
         AND (role = 'user' OR EXISTS (SELECT 1 FROM blocks WHERE ${placeIn('messages.no')})) LIMIT 1`,
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

export interface NewMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly role: 'user' | 'assistant';
  readonly createdAtMs: number;
  /** The turn that it opens or answers; absent: none. */
  readonly turn?: number;
}

export function insertMessage(db: Connection, message: NewMessage): void {
  db.statement(
    `INSERT INTO messages (id, conversation_id, ordinal, role, created_at_ms, turn)
     VALUES (:id, :conversationId,
       (SELECT coalesce(max(ordinal), 0) + 1 FROM messages WHERE conversation_id = :conversationId), :role, :createdAtMs, :turn)`,
  ).run({ turn: null, ...message });
}

/** @throws Error when there is no such message, or a position is beyond its places. */
export function insertBlocks(db: Connection, conversationId: string, messageId: string, blocks: readonly NewBlock[]): void {
  const insert = db.statement(
    `INSERT INTO blocks (place, id, block_type, revision, body, fallback_text)
     SELECT no * ${PLACES_PER_MESSAGE} + :position, :id, :blockType, :revision, :body, :fallbackText
     FROM messages WHERE id = :messageId AND :position < ${PLACES_PER_MESSAGE}`,
  );
  for (const { replaces, ...block } of blocks) {
    if (insert.run({ ...block, messageId }).changes === 0) throw new Error(`message ${messageId} has no place for block ${block.id}`);
    if (replaces !== undefined) supersede(db, conversationId, block, replaces);
  }
}

/** Deletes all blocks of the message. */
export function deleteBlocks(db: Connection, messageId: string): void {
  const places = `SELECT b.place FROM messages CROSS JOIN blocks b ON b.${placeIn('messages.no')} WHERE messages.id = :messageId`;
  db.statement(`DELETE FROM blocks WHERE place IN (${places})`).run({ messageId });
}

/** Marks older open blocks about the same subject as superseded: only the newest can be answered (BLOCK-19). */
function supersede(
  db: Connection,
  conversationId: string,
  { id, blockType }: Pick<NewBlock, 'id' | 'blockType'>,
  { field, value }: NonNullable<NewBlock['replaces']>,
): void {
  db.statement(
    `UPDATE blocks SET body = json_set(body, '$.status', 'superseded')
     WHERE place IN (SELECT b.place FROM messages CROSS JOIN blocks b ON b.${placeIn('messages.no')} WHERE conversation_id = :conversationId)
       AND id <> :id AND block_type = :blockType AND body ->> '$.status' = 'open' AND body ->> ('$.' || :field) = :value`,
  ).run({ conversationId, id, blockType, field, value });
}

/** A block whose Pick a person sets: JSON of its body before and after. */
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
