/** The named transactions of the writer's tests: a module as the writer thread imports it. */

import { Refusal } from '../../../protocol/errors.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { Withdrawal } from '../../../storage/sqlite/group.ts';

export function open(path: string): Connection {
  const connection = openWriter(path);
  connection.exec(`
    CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE IF NOT EXISTS replies (note_id INTEGER NOT NULL REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
  `);
  return connection;
}

export interface NoteInput {
  readonly text: string;
}

function addNote(db: Connection, input: NoteInput): { id: number } {
  const result = db.statement('INSERT INTO notes (text) VALUES (:text)').run({ text: input.text });
  return { id: Number(result.lastInsertRowid) };
}

export const transactions = {
  addNote,
  /** Writes, then throws: its row must not stay. */
  addThenThrow(db: Connection, input: NoteInput): never {
    addNote(db, input);
    throw new Error(`no to ${input.text}`);
  },
  addThenWithdraw(db: Connection, input: NoteInput): string {
    addNote(db, input);
    throw new Withdrawal(`withdrew ${input.text}`);
  },
  addThenRefuse(db: Connection, input: NoteInput): never {
    addNote(db, input);
    throw new Refusal('conflict', 'Choose another text.', { details: [], retryAfterS: 7 });
  },
  /** Satisfies the file until COMMIT, which then fails. */
  breakCommit(db: Connection, _input: null): void {
    db.exec('INSERT INTO replies (note_id) VALUES (123456789)');
  },
  fillDisk(db: Connection, _input: null): void {
    db.exec('PRAGMA max_page_count = 8');
    db.statement('INSERT INTO notes (text) VALUES (:text)').run({ text: 'x'.repeat(200_000) });
  },
  pragma(db: Connection, input: { readonly name: 'synchronous' | 'journal_mode' | 'foreign_keys' | 'trusted_schema' }): unknown {
    return Object.values(db.statement(`PRAGMA ${input.name}`).get() ?? {})[0];
  },
  uncloneable(db: Connection, input: NoteInput): () => void {
    addNote(db, input);
    return () => {};
  },
  asynchronous(db: Connection, input: NoteInput): Promise<void> {
    addNote(db, input);
    return Promise.resolve();
  },
  echo(_db: Connection, input: unknown): unknown {
    return input;
  },
  crash(_db: Connection, _input: null): void {
    process.exit(3);
  },
};
