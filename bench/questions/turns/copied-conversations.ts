/**
 * Fills an organisation's file with copies of a conversation that the service itself stored: as many rows in the same tables, as long,
 * with ids of their own. Whatever the schema is, a copy is what the service wrote. To be called while nothing has the file open.
 */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { type IdPrefix, mintId } from '../../../protocol/ids.ts';
import { syncPath } from '../../../storage/sqlite/database-copy.ts';

/** Their order in time, and that of their ids, is that of their rows, as if they had come one after the other. */
const COPY_APART_MS = 1_000;
/** Rows of so many copies stay in memory until they are committed. */
const COPIES_A_TRANSACTION = 2_000;
const CACHE_KIB = 400_000;

/** What is minted anew: ids of the service, of turns and requests (UUIDs) and devices (32 digits). */
const IDS = /\b(?:cnv|msg|blk|inv)_[0-9a-z]{24}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b/g;

type Value = string | number | bigint | Buffer | null;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Which of its rows are the conversation's. */
  readonly where: string;
}

interface Copy {
  readonly ids: readonly string[];
  readonly shiftMs: number;
  /** What the numbers of its turns and messages are more than those of the original. */
  readonly turnShift: number;
  readonly messageShift: number;
}

/** The value of one column in a copy. */
type Cell = (copy: Copy) => Value;

export interface CopiedConversation {
  readonly id: string;
  readonly device: string;
}

const TURNS = 'SELECT id FROM turns WHERE conversation_id = :id';
const MESSAGES = 'SELECT no FROM messages WHERE conversation_id = :id';
/** A block lies at so many times the number of its message, and its position. */
const PLACES_PER_MESSAGE = 1024;

/** Every table in which rows of a conversation, of its turns or of its device can be. */
function tablesOf(db: Database.Database): Table[] {
  const named = db.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'");
  return (named.pluck().all() as string[]).flatMap((name) => {
    const columns = db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(name) as string[];
    const where = whereOf(name, columns);
    return where === undefined ? [] : [{ name, columns, where }];
  });
}

function whereOf(table: string, columns: readonly string[]): string | undefined {
  if (table === 'conversations') return 'id = :id';
  if (table === 'blocks') return `place / ${PLACES_PER_MESSAGE} IN (${MESSAGES})`;
  if (columns.includes('conversation_id')) return 'conversation_id = :id';
  if (columns.includes('turn')) return `turn IN (${TURNS})`;
  return columns.includes('device_id') ? 'device_id = :device' : undefined;
}

/** The ids of the original, in the order in which they were met; a copy has another one in the place of each. */
class Ids {
  readonly #places = new Map<string, number>();

  placeOf(id: string): number {
    const place = this.#places.get(id) ?? this.#places.size;
    this.#places.set(id, place);
    return place;
  }

  /** @param atMs when the copy was made, as its ids tell */
  mint(atMs: number): string[] {
    return Array.from(this.#places.keys(), (id) => {
      if (id[3] === '_') return mintId(id.slice(0, 3) as IdPrefix, atMs);
      return id[8] === '-' ? randomUUID() : randomUUID().replaceAll('-', '');
    });
  }
}

/** How a text of the original is written into copies. */
function textCell(text: string, ids: Ids): Cell {
  const places = Array.from(text.matchAll(IDS), ([id]) => ids.placeOf(id));
  const parts = text.split(IDS);
  const [only] = places;
  if (only === undefined) return () => text;
  if (places.length === 1 && parts.every((part) => part === '')) return (copy) => copy.ids[only] ?? '';
  return (copy) => parts.map((part, at) => part + (copy.ids[places[at] ?? -1] ?? '')).join('');
}

function cellOf(table: string, column: string, value: Value, ids: Ids): Cell {
  if (typeof value === 'string') return textCell(value, ids);
  if (typeof value === 'number' && column.endsWith('_at_ms')) return ({ shiftMs }) => value + shiftMs;
  if (typeof value !== 'number') return () => value;
  if (column === 'turn' || (table === 'turns' && column === 'id')) return ({ turnShift }) => value + turnShift;
  if (table === 'messages' && column === 'no') return ({ messageShift }) => value + messageShift;
  if (table === 'blocks' && column === 'place') return ({ messageShift }) => value + messageShift * PLACES_PER_MESSAGE;
  return () => value;
}

interface Original {
  readonly tables: readonly { readonly table: Table; readonly rows: readonly (readonly Cell[])[] }[];
  readonly ids: Ids;
  readonly device: string;
  readonly createdAtMs: number;
  readonly turns: Numbers;
  readonly messages: Numbers;
}

/** Numbers of rows, which go up by one. */
interface Numbers {
  /** From the first one to the last. */
  readonly count: number;
  /** From the first one to the first that is free. */
  readonly shift: number;
}

/** Those of the conversation in a table, to be asked before its rows are deleted; the shift is known afterwards. */
function numbersIn(db: Database.Database, table: 'turns' | 'messages', column: string, id: string): () => Numbers {
  const asked = db.prepare(`SELECT min(${column}) AS first, max(${column}) AS last FROM ${table} WHERE conversation_id = ?`).get(id);
  const { first, last } = asked as { first: number; last: number };
  return () => {
    const highest = db.prepare(`SELECT coalesce(max(${column}), 0) FROM ${table}`).pluck().get() as number;
    return { count: last - first + 1, shift: highest + 1 - first };
  };
}

/** Takes the original out of the file: its copies end where it stood, as the newest rows of their tables. */
function takeOut(db: Database.Database, id: string): Original {
  const head = db.prepare('SELECT device_id AS device, created_at_ms AS createdAtMs FROM conversations WHERE id = ?').get(id);
  if (head === undefined) throw new Error(`there is no conversation ${id} to copy`);
  const { device, createdAtMs } = head as { device: string; createdAtMs: number };
  const turns = numbersIn(db, 'turns', 'id', id);
  const messages = numbersIn(db, 'messages', 'no', id);
  const ids = new Ids();
  const tables = tablesOf(db).map((table) => {
    const rows = db.prepare(`SELECT * FROM ${table.name} WHERE ${table.where}`).raw().all({ id, device }) as Value[][];
    return { table, rows: rows.map((row) => row.map((value, at) => cellOf(table.name, table.columns[at] ?? '', value, ids))) };
  });
  // Turns and messages go last: rows of theirs are found by them.
  const goesLast = ({ table }: { readonly table: Table }): number => Number(table.name === 'turns' || table.name === 'messages');
  for (const { table } of tables.toSorted((a, b) => goesLast(a) - goesLast(b)))
    db.prepare(`DELETE FROM ${table.name} WHERE ${table.where}`).run({ id, device });
  return { tables, ids, device, createdAtMs, turns: turns(), messages: messages() };
}

/**
 * Writes `count` copies of the conversation `id` in its place, the oldest first, and tells of each. The file is on the disk when it
 * returns.
 */
export function copyConversation(file: string, id: string, count: number, told: (copy: CopiedConversation) => void = () => {}): void {
  const db = new Database(file, { fileMustExist: true });
  try {
    db.pragma('foreign_keys = OFF');
    db.pragma('synchronous = OFF');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    // A file that is being made needs no log; the service's own is that of WAL.
    db.pragma('journal_mode = OFF');
    const { tables, ids, device, createdAtMs, turns, messages } = takeOut(db, id);
    const writes = tables.map(({ table, rows }) => {
      const insert = db.prepare(`INSERT INTO ${table.name} VALUES (${table.columns.map(() => '?').join(', ')})`);
      return (copy: Copy): void => {
        for (const row of rows) insert.run(row.map((cell) => cell(copy)));
      };
    });
    const [conversation, owner] = [ids.placeOf(id), ids.placeOf(device)];
    for (let at = 0; at < count; at++) {
      if (at % COPIES_A_TRANSACTION === 0) db.exec(at === 0 ? 'BEGIN' : 'COMMIT; BEGIN');
      const shiftMs = (at - count) * COPY_APART_MS;
      const turnShift = turns.shift + at * turns.count;
      const messageShift = messages.shift + at * messages.count;
      const copy = { ids: ids.mint(createdAtMs + shiftMs), shiftMs, turnShift, messageShift };
      for (const write of writes) write(copy);
      told({ id: copy.ids[conversation] ?? '', device: copy.ids[owner] ?? '' });
    }
    if (count > 0) db.exec('COMMIT');
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  syncPath(file);
}
