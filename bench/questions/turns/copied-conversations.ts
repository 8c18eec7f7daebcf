/**
 * Fills an organisation's file with copies of a conversation that the service itself stored: as many rows in the same tables, as long,
 * with ids of their own. Whatever the schema is, a copy is what the service wrote. To be called while nothing has the file open.
 */
import { randomUUID } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
  readonly where: string;
}

interface Copy {
  readonly ids: readonly string[];
  readonly shiftMs: number;
  /** What the numbers of its turns are more than those of the original. */
  readonly turnShift: number;
}

type Cell = (copy: Copy) => Value;

export interface CopiedConversation {
  readonly id: string;
  readonly device: string;
}

const TURNS = 'SELECT id FROM turns WHERE conversation_id = :id';
/** Rows that are numbered by their turn: so many times its number, and something less. */
const BY_TURN: Readonly<Record<string, { readonly column: string; readonly times: number }>> = {
  turns: { column: 'id', times: 1 },
  messages: { column: 'no', times: 2 },
  blocks: { column: 'place', times: 2048 },
};

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
  if (columns.includes('conversation_id')) return 'conversation_id = :id';
  const byTurn = BY_TURN[table];
  if (byTurn !== undefined) return `${byTurn.column} / ${byTurn.times} IN (${TURNS})`;
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
  if (typeof value !== 'number') return () => value;
  if (column.endsWith('_at_ms')) return ({ shiftMs }) => value + shiftMs;
  if (column === 'turn') return ({ turnShift }) => value + turnShift;
  const byTurn = BY_TURN[table];
  return byTurn?.column === column ? ({ turnShift }) => value + turnShift * byTurn.times : () => value;
}

interface Original {
  readonly tables: readonly { readonly table: Table; readonly rows: readonly (readonly Cell[])[] }[];
  readonly ids: Ids;
  readonly device: string;
  readonly createdAtMs: number;
  /** From the number of its first turn to that of its last one. */
  readonly turns: number;
  /** From the number of its first turn to the first that is free. */
  readonly turnShift: number;
}

/** Takes the original out of the file: its copies end where it stood, as the newest rows of their tables. */
function takeOut(db: Database.Database, id: string): Original {
  const head = db.prepare('SELECT device_id AS device, created_at_ms AS createdAtMs FROM conversations WHERE id = ?').get(id);
  if (head === undefined) throw new Error(`there is no conversation ${id} to copy`);
  const { device, createdAtMs } = head as { device: string; createdAtMs: number };
  const numbers = db.prepare(`SELECT min(id) AS first, max(id) AS last FROM turns WHERE conversation_id = ?`).get(id);
  const { first, last } = numbers as { first: number; last: number };
  const ids = new Ids();
  const tables = tablesOf(db).map((table) => {
    const rows = db.prepare(`SELECT * FROM ${table.name} WHERE ${table.where}`).raw().all({ id, device }) as Value[][];
    return { table, rows: rows.map((row) => row.map((value, at) => cellOf(table.name, table.columns[at] ?? '', value, ids))) };
  });
  // Turns go last: rows of theirs are found by them.
  const isTurns = ({ table }: { readonly table: Table }): number => Number(table.name === 'turns');
  for (const { table } of tables.toSorted((a, b) => isTurns(a) - isTurns(b)))
    db.prepare(`DELETE FROM ${table.name} WHERE ${table.where}`).run({ id, device });
  const free = (db.prepare('SELECT coalesce(max(id), 0) FROM turns').pluck().get() as number) + 1;
  return { tables, ids, device, createdAtMs, turns: last - first + 1, turnShift: free - first };
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
    const { tables, ids, device, createdAtMs, turns, turnShift } = takeOut(db, id);
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
      const copy = { ids: ids.mint(createdAtMs + shiftMs), shiftMs, turnShift: turnShift + at * turns };
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

/** What is written beside it, and others who write: a full disk would end more than the benchmark. */
const SPARE = 2;

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
}

/**
 * Leaves out sizes, the largest first, until the disk has twice the room that all that are left take together.
 * @param sizes from the smallest to the largest
 * @param bytesOf what all of these take
 */
export function fitting(
  sizes: readonly number[],
  bytesOf: (sizes: readonly number[]) => number,
  free = freeBytes(),
): { readonly sizes: readonly number[]; readonly leftOut: readonly string[] } {
  const bytes = bytesOf(sizes);
  const largest = sizes.at(-1);
  if (largest === undefined || bytes * SPARE <= free) return { sizes, leftOut: [] };
  const gb = (value: number): string => `${(value / 1e9).toFixed(1)} GB`;
  const why = `${gb(bytes)} would be written, and ${tmpdir()} has ${gb(free)} free, less than twice that. Set TMPDIR to a larger disk.`;
  const rest = fitting(sizes.slice(0, -1), bytesOf, free);
  return { sizes: rest.sizes, leftOut: [`${largest.toLocaleString('en-US')} is left out: ${why}`, ...rest.leftOut] };
}
