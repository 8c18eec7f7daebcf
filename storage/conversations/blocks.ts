/** The blocks of messages: what was said, piece by piece. A block is found by its id, or by its message, beside which it lies. */
import type { Block } from '../../protocol/catalog/block.ts';
import { columns, integer, json, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/** As in the schema: the number of a message times this, and a position below it, is the place of a block. */
const PLACES_PER_MESSAGE = 1024;
/** A turn's messages have the numbers that twice its own begins. */
const PLACES_PER_TURN = 2 * PLACES_PER_MESSAGE;

/** SQL for the blocks that lie at the places of one message; `no`: the SQL of its number. */
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
const blockOfMessages = columns({ ...blockColumns, messageNo: integer.from(`place / ${PLACES_PER_MESSAGE}`) });

function blockOf({ index, id, blockType, revision, body, fallbackText }: RowOf<typeof block>): Block {
  return { index, id, block_type: blockType, revision, body, ...(fallbackText === null ? {} : { fallback_text: fallbackText }) };
}

export function readBlockById(db: Connection, id: string): Block | undefined {
  const row = block.get(db, 'FROM blocks WHERE id = :id', { id });
  return row && blockOf(row);
}

export function readBlockOfConversation(db: Connection, id: string, conversationId: string): Block | undefined {
  const conversation = `SELECT conversation_id FROM turns WHERE turns.id = place / ${PLACES_PER_TURN}`;
  const row = block.get(db, `FROM blocks WHERE id = :id AND (${conversation}) = :conversationId`, { id, conversationId });
  return row && blockOf(row);
}

export function readBlockOfMessage(db: Connection, id: string, messageId: string): Block | undefined {
  const message = `SELECT messages.id FROM messages WHERE no = place / ${PLACES_PER_MESSAGE}`;
  const row = block.get(db, `FROM blocks WHERE id = :id AND (${message}) = :messageId`, { id, messageId });
  return row && blockOf(row);
}

/** The blocks of the messages with these numbers, in order. One query for all of them: a page holds up to 200 messages. */
export function readBlocks(db: Connection, numbers: readonly number[]): ReadonlyMap<number, readonly Block[]> {
  const blocks = new Map<number, Block[]>(numbers.map((no) => [no, []]));
  const from = `FROM (SELECT value AS no FROM json_each(:numbers)) AS page CROSS JOIN blocks ON ${placeIn('page.no')} ORDER BY place`;
  const found = blockOfMessages.all(db, from, { numbers: JSON.stringify(numbers) });
  for (const row of found) blocks.get(row.messageNo)?.push(blockOf(row));
  return blocks;
}

const blockBody = columns({ body: json<Block['body']>() });

/** This many text blocks hold at least as much as a model is given of a conversation. */
const TEXT_BLOCKS_READ = 16;

export function readTextBlocks(db: Connection, messageId: string, position: number): string[] {
  const from = `FROM messages CROSS JOIN blocks ON ${placeIn('messages.no')}
    WHERE messages.id = :messageId AND place >= no * ${PLACES_PER_MESSAGE} + :position AND block_type = 'text' ORDER BY place LIMIT :limit`;
  const rows = blockBody.all(db, from, { messageId, position, limit: TEXT_BLOCKS_READ });
  return rows.map(({ body }) => String(body.md ?? ''));
}

export interface NewBlock {
  readonly id: string;
  readonly position: number;
  readonly blockType: string;
  readonly revision: number;
  readonly body: string;
  readonly fallbackText: string | null;
  /** Open blocks of its type with this value in their body are replaced by it; absent: none are. */
  readonly replaces?: { readonly field: string; readonly value: string };
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
  const update = `UPDATE blocks SET body = json_set(body, '$.status', 'superseded')
    WHERE place IN (
        SELECT b.place FROM turns t
          CROSS JOIN blocks b ON b.place BETWEEN t.id * ${PLACES_PER_TURN} AND t.id * ${PLACES_PER_TURN} + ${PLACES_PER_TURN - 1}
        WHERE t.conversation_id = :conversationId)
      AND id <> :id AND block_type = :blockType AND body ->> '$.status' = 'open' AND body ->> ('$.' || :field) = :value`;
  db.statement(update).run({ conversationId, id, blockType, field, value });
}

/** A block whose Pick a person sets: JSON of its body before and after. */
export interface PickChange {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly fallbackText: string;
}

export function setPicks(db: Connection, picks: readonly PickChange[]): boolean {
  const update = db.statement('UPDATE blocks SET body = :after, fallback_text = :fallbackText WHERE id = :id AND body = :before');
  return picks.every((pick) => update.run({ ...pick }).changes === 1);
}
