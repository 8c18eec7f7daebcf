/**
 * Leases: which node does a piece of work of an organisation now that may be done by one at a time (CLUSTER-20, CLUSTER-21). A lease is a
 * row in the organisation's file that one holder has until it gives it back, it runs out, or its node is gone.
 */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const lease = columns({ holder: text, expiresAtMs: integer });

export type LeaseRow = RowOf<typeof lease>;

/** The lease of this name as its row has it, run out or not. */
export function readLease(db: Connection, name: string): LeaseRow | undefined {
  return lease.get(db, 'FROM leases WHERE name = :name', { name });
}

/** Takes the lease when it is free, has run out, or is `gone`'s, whose node is known to be gone; false when it is another's. */
function takeLease(
  db: Connection,
  input: { name: string; holder: string; gone: string | null; nowMs: number; expiresAtMs: number },
): boolean {
  const { changes } = db
    .statement(
      `INSERT INTO leases (name, holder, expires_at_ms) VALUES (:name, :holder, :expiresAtMs)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
         WHERE holder = :gone OR expires_at_ms <= :nowMs`,
    )
    .run(input);
  return changes === 1;
}

/** The holder keeps the lease until then; false when it is no longer its own. */
function renewLease(db: Connection, input: { name: string; holder: string; expiresAtMs: number }): boolean {
  const { changes } = db.statement('UPDATE leases SET expires_at_ms = :expiresAtMs WHERE name = :name AND holder = :holder').run(input);
  return changes === 1;
}

/** Nothing when the lease is another's by now. */
function giveBackLease(db: Connection, input: { name: string; holder: string }): void {
  db.statement('DELETE FROM leases WHERE name = :name AND holder = :holder').run(input);
}

export const transactions = { takeLease, renewLease, giveBackLease };
