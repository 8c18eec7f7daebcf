/**
 * Rows of personal data that placeholders stand for (PRIVACY-7, PRIVACY-8): kind, number, a keyed digest and the sealed value.
 *
 * Invariants: a value of a conversation has one number (its digest is unique), numbers of a kind go up from 1 and are never
 * given twice, and `conversations.placeholders` counts the rows. Values are sealed before they come here: the writer thread
 * has no master key.
 */
import { blob, integer, readValue } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface NewPlaceholder {
  readonly kind: string;
  /** Keyed digest of kind and value, for this conversation only. */
  readonly digest: Uint8Array;
  readonly sealed: Uint8Array;
}

export interface PlaceholderRow extends NewPlaceholder {
  readonly number: number;
}

export function readPlaceholder(db: Connection, conversationId: string, kind: string, number: number): Uint8Array | undefined {
  const select = 'SELECT sealed FROM placeholders WHERE conversation_id = :conversationId AND kind = :kind AND number = :number';
  return readValue(db, blob, select, { conversationId, kind, number });
}

/** How many rows the conversation has; undefined when there is no such conversation. */
export function countPlaceholders(db: Connection, conversationId: string): number | undefined {
  return readValue(db, integer, 'SELECT placeholders FROM conversations WHERE id = :conversationId', { conversationId });
}

function insertRow(db: Connection, conversationId: string, { kind, number, digest, sealed }: PlaceholderRow): void {
  const insert = `INSERT INTO placeholders (conversation_id, kind, number, digest, sealed)
    VALUES (:conversationId, :kind, :number, :digest, :sealed)`;
  db.statement(insert).run({ conversationId, kind, number, digest: Buffer.from(digest), sealed: Buffer.from(sealed) });
}

function setCount(db: Connection, conversationId: string, count: number): void {
  db.statement('UPDATE conversations SET placeholders = :count WHERE id = :conversationId').run({ conversationId, count });
}

/** Rows of a conversation that the same transaction created, numbered by the opening. */
export function insertPlaceholders(db: Connection, conversationId: string, rows: readonly PlaceholderRow[]): void {
  if (rows.length === 0) return;
  for (const row of rows) insertRow(db, conversationId, row);
  setCount(db, conversationId, rows.length);
}

export function readPlaceholderNumber(db: Connection, conversationId: string, digest: Uint8Array): number | undefined {
  const select = 'SELECT number FROM placeholders WHERE conversation_id = :conversationId AND digest = :digest';
  return readValue(db, integer, select, { conversationId, digest: Buffer.from(digest) });
}

function nextNumber(db: Connection, conversationId: string, kind: string): number {
  return (
    readValue(
      db,
      integer,
      'SELECT coalesce(max(number), 0) + 1 FROM placeholders WHERE conversation_id = :conversationId AND kind = :kind',
      { conversationId, kind },
    ) ?? 1
  );
}

export const transactions = {
  /** The number of each value, in their order: the one it has already, or a new one. Nulls when the conversation is gone. */
  allocatePlaceholders(
    db: Connection,
    { conversationId, values }: { conversationId: string; values: readonly NewPlaceholder[] },
  ): (number | null)[] {
    const before = countPlaceholders(db, conversationId);
    if (before === undefined) return values.map(() => null);
    const next = new Map<string, number>();
    let count = before;
    const numbers = values.map((value) => {
      const known = readPlaceholderNumber(db, conversationId, value.digest);
      if (known !== undefined) return known;
      const number = next.get(value.kind) ?? nextNumber(db, conversationId, value.kind);
      next.set(value.kind, number + 1);
      insertRow(db, conversationId, { ...value, number });
      count++;
      return number;
    });
    if (count > before) setCount(db, conversationId, count);
    return numbers;
  },
};
