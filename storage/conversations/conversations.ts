/** Conversations and their messages: rows as read, and the fence that every owner's write passes. */
import { LRUCache } from 'lru-cache';
import type { Block } from '../../protocol/catalog/block.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, flag, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { placeIn, readBlocks } from './blocks.ts';

const conversation = columns({
  id: text,
  appId: text,
  channel: text.as<Channel>(),
  deviceId: text,
  endUserId: orNull(text),
  epoch: integer,
  owner: text,
  placeholders: integer,
  /** The model has called an action in it. */
  hasCalls: flag.from('EXISTS (SELECT 1 FROM invocations WHERE conversation_id = conversations.id)'),
  createdAtMs: integer,
  updatedAtMs: integer,
});

export type ConversationRow = RowOf<typeof conversation>;

/** Who said a message: see the schema on its number. */
export const role = text.from(`iif(messages.no % 2, 'assistant', 'user')`).as<'user' | 'assistant'>();

const message = {
  no: integer,
  id: text.from('messages.id'),
  role,
  createdAtMs: integer,
};

export const messageHead = columns(message);
type MessageHead = RowOf<typeof messageHead>;

export interface StoredMessage extends Omit<MessageHead, 'no'> {
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
  readonly owner: string;
}

/** The same of the write that opens a turn; null expected: the conversation is new. */
export type OpeningFence = Omit<Fence, 'expectedEpoch'> & { readonly expectedEpoch: number | null };

const ownership = columns({ epoch: integer, owner: text });

/** True when the row has the expected epoch; then it gets the caller's epoch and owner, unless it has them: then no page is written. */
export function passFence(db: Connection, conversationId: string, { expectedEpoch, epoch, owner }: Fence): boolean {
  const row = ownership.get(db, 'FROM conversations WHERE id = :conversationId', { conversationId });
  if (row?.epoch !== expectedEpoch) return false;
  const update = 'UPDATE conversations SET epoch = :epoch, owner = :owner WHERE id = :conversationId';
  if (row.epoch !== epoch || row.owner !== owner) db.statement(update).run({ conversationId, epoch, owner });
  return true;
}

/** As `passFence`, for a new turn or a new attempt at one: lists are sorted by the time at which something was said last. */
export function enterPastFence(db: Connection, conversationId: string, fence: Fence, nowMs: number): boolean {
  const { expectedEpoch, epoch, owner } = fence;
  const update = `UPDATE conversations SET epoch = :epoch, owner = :owner, updated_at_ms = :nowMs
    WHERE id = :conversationId AND epoch = :expectedEpoch`;
  return db.statement(update).run({ conversationId, expectedEpoch, epoch, owner, nowMs }).changes === 1;
}

export function messagesOf(db: Connection, heads: readonly MessageHead[]): StoredMessage[] {
  const numbers = heads.map(({ no }) => no);
  const blocks = readBlocks(db, numbers);
  return heads.map(({ no, id, role, createdAtMs }) => ({ id, role, createdAtMs, blocks: blocks.get(no) ?? [] }));
}

export interface MessagesPage {
  readonly limit: number;
  /** The id of the message after the page; an unknown id gives an empty page. */
  readonly before?: string | undefined;
  /** The last turn of the page; absent: the newest. */
  readonly upToTurn?: number | undefined;
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

export const OF_TURNS = 'turns CROSS JOIN messages ON no BETWEEN turns.id * 2 AND turns.id * 2 + 1';

/** SQL for the number of a message by its id (SQL, too), NULL where it is none of the conversation's. */
export function numberOf(id: string): string {
  return `(SELECT m.no FROM messages m JOIN turns t ON t.id = m.no / 2 WHERE m.id = ${id} AND t.conversation_id = :conversationId)`;
}

const SAYS_SOMETHING = `(no % 2 = 0 OR EXISTS (SELECT 1 FROM blocks WHERE ${placeIn('messages.no')}))`;

const NO_MESSAGE = Number.MAX_SAFE_INTEGER;

/** The newest messages of a conversation, or those before another; oldest first. Fewer than `limit` when they are long. */
export function readMessages(db: Connection, conversationId: string, { limit, before, upToTurn, wordless }: MessagesPage): StoredMessage[] {
  const beyond = before === undefined ? ':end' : numberOf(':before');
  const newestFirst = pageMessage.all(
    db,
    `FROM ${OF_TURNS}
     WHERE conversation_id = :conversationId AND turns.id <= ${beyond} / 2 AND no < ${beyond} ${wordless ? '' : `AND ${SAYS_SOMETHING}`}
     ORDER BY turns.id DESC, no DESC LIMIT :limit`,
    { conversationId, limit, before: before ?? null, end: upToTurn === undefined ? NO_MESSAGE : upToTurn * 2 + 2 },
  );
  return messagesOf(db, withinPage(newestFirst).reverse());
}

interface Recent {
  /** The newest turn that was read. */
  readonly turn: number;
  readonly bytes: number;
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
}

/** Some hundred conversations that have been going on for a while. */
const RECENT_MAX_BYTES = 16 * 1024 * 1024;
/** What a message takes beside its words, and what a byte of JSON takes as objects, at most times. */
const MESSAGE_BYTES = 500;
const OBJECTS_PER_JSON = 4;
/** A conversation of more is read each time; most have a tenth. It counts what fell out of the newest messages too, so that it is read anew at times. */
const RECENT_EACH_MAX_BYTES = 128 * 1024;

/**
 * The newest messages of conversations, kept from one turn to the next: only what was said since is read. For a process that alone writes to
 * the files. What was said by turns that have ended stays as it is, but for writes after which it has to be told to `forget`.
 */
export class RecentMessages {
  readonly #recent = new LRUCache<string, Recent>({
    maxSize: RECENT_MAX_BYTES,
    sizeCalculation: ({ bytes, messages }) => OBJECTS_PER_JSON * bytes + messages.length * MESSAGE_BYTES + 1,
  });

  /** As `readMessages` does, those that said no word included; while no turn of the conversation is open. */
  read(db: Connection, conversationId: string, limit: number): readonly StoredMessage[] {
    const { turn, bytes, messages }: Recent = this.#recent.get(conversationId) ?? { turn: 0, bytes: 0, messages: [] };
    const from = `FROM ${OF_TURNS} WHERE conversation_id = :conversationId AND turns.id > :turn ORDER BY turns.id DESC, no DESC LIMIT :limit`;
    const since = pageMessage.all(db, from, { conversationId, turn, limit });
    const page = withinPage(since);
    this.#recent.delete(conversationId);
    if (page.length < since.length) return messagesOf(db, page.reverse());
    const newest = since[0] === undefined ? turn : Math.floor(since[0].no / 2);
    const whole = since.reduce((sum, message) => sum + message.bytes, bytes);
    const recent = [...messages, ...messagesOf(db, page.reverse())].slice(-limit);
    if (whole <= RECENT_EACH_MAX_BYTES) this.#recent.set(conversationId, { turn: newest, bytes: whole, messages: recent });
    return recent;
  }

  /** What was said in this conversation, or in any, may have changed. */
  forget(conversationId?: string): void {
    if (conversationId === undefined) this.#recent.clear();
    else this.#recent.delete(conversationId);
  }
}

export function hasEarlierMessages(db: Connection, conversationId: string, messageId: string): boolean {
  const beyond = numberOf(':messageId');
  const select = `SELECT 1 FROM ${OF_TURNS}
    WHERE conversation_id = :conversationId AND turns.id <= ${beyond} / 2 AND no < ${beyond} AND ${SAYS_SOMETHING} LIMIT 1`;
  return db.statement(select).get({ conversationId, messageId }) !== undefined;
}

interface NewMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly turn: number;
  readonly role: 'user' | 'assistant';
  readonly createdAtMs: number;
}

/** The person's message of a turn is written before the assistant's. */
export function insertMessage(db: Connection, { id, conversationId, turn, role, createdAtMs }: NewMessage): void {
  const insert = `INSERT INTO messages (no, id, ordinal, created_at_ms)
    VALUES (:no, :id, 1 + coalesce(
      (SELECT ordinal FROM messages WHERE no = :no - 1 AND :no % 2 = 1),
      (SELECT ordinal FROM messages
       WHERE no = 2 * (SELECT max(turns.id) FROM turns WHERE conversation_id = :conversationId AND turns.id < :turn) + 1),
      0), :createdAtMs)`;
  db.statement(insert).run({ no: turn * 2 + (role === 'assistant' ? 1 : 0), id, conversationId, turn, createdAtMs });
}
