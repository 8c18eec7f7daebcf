/** Small facts about this installation, by name, and the console's one-time links; in `control.sqlite`. */
import { columns, insert, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const fact = columns({ value: text });

export function readInstallation(control: Connection, name: string): string | undefined {
  return fact.get(control, 'FROM installation WHERE name = :name', { name })?.value;
}

/** Unused links that are kept; each start makes one. */
const CONSOLE_LINKS_MAX = 100;
const LINK = 'console_link:';
const ENDED = 'console_session_ended ';
/** How long an ended session is kept after its expiry. */
const ENDED_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** The newest are kept at any age, so that a clock far ahead does not delete them. These are 0.2 MB. */
const ENDED_KEPT = 1_000;

export function hasConsoleLink(control: Connection, codeHash: string): boolean {
  return readInstallation(control, LINK + codeHash) !== undefined;
}

/** Whether the console session was ended or reported as expired. `hash`: SHA-256 of its cookie. */
export function isConsoleSessionEnded(control: Connection, hash: string): boolean {
  return readInstallation(control, ENDED + hash) !== undefined;
}

export const transactions = {
  noteInstallation(db: Connection, { name, value }: { name: string; value: string }): void {
    insert(db, 'installation', { name, value }, 'ON CONFLICT (name) DO UPDATE SET value = :value');
  },

  /** Stores the fact unless it exists, and returns the stored value: when several callers race, the first wins. */
  settleInstallation(db: Connection, { name, value }: { name: string; value: string }): string {
    insert(db, 'installation', { name, value }, 'ON CONFLICT (name) DO NOTHING');
    return readInstallation(db, name) ?? value;
  },

  /** Stores a one-time link until `expiresAtMs` by the hash of its code. Beyond the bound, those that expire first are deleted. */
  keepConsoleLink(db: Connection, { codeHash, expiresAtMs }: { codeHash: string; expiresAtMs: number }): void {
    const remove = `DELETE FROM installation WHERE name IN (
        SELECT name FROM installation WHERE name GLOB '${LINK}*' ORDER BY CAST(value AS INTEGER) DESC LIMIT -1 OFFSET :others)`;
    db.statement(remove).run({ others: CONSOLE_LINKS_MAX - 1 });
    insert(db, 'installation', { name: LINK + codeHash, value: `${expiresAtMs}` });
  },

  /** Ends a console session for good, and deletes the rows of sessions that expired long ago. */
  endConsoleSession(db: Connection, { hash, expiresAtMs, nowMs }: { hash: string; expiresAtMs: number; nowMs: number }): void {
    const remove = `DELETE FROM installation WHERE CAST(value AS INTEGER) <= :before AND name IN (
        SELECT name FROM installation WHERE name GLOB '${ENDED}*' ORDER BY CAST(value AS INTEGER) DESC LIMIT -1 OFFSET :kept)`;
    // Kept for a while: a clock that is set back must not revive them.
    db.statement(remove).run({ before: nowMs - ENDED_KEPT_MS, kept: ENDED_KEPT });
    transactions.noteInstallation(db, { name: ENDED + hash, value: `${expiresAtMs}` });
  },

  useConsoleLink(db: Connection, input: { codeHash: string; nowMs: number }): boolean {
    const [row] = fact.returning(db, 'DELETE FROM installation WHERE name = :name', { name: LINK + input.codeHash });
    return row !== undefined && input.nowMs < Number(row.value);
  },
};
