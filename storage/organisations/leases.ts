/** Which node does a piece of an organisation's work that only one may do at a time (CLUSTER-20, CLUSTER-21), for some seconds. */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const lease = columns({ holder: text, expiresAtMs: integer });

type LeaseRow = RowOf<typeof lease>;

export function readLease(db: Connection, name: string): LeaseRow | undefined {
  return lease.get(db, 'FROM leases WHERE name = :name', { name });
}

/** Takes the lease when it is free, has expired, or is held by `gone`, a lost node; false when another holds it. */
function takeLease(
  db: Connection,
  input: { name: string; holder: string; gone: string | null; nowMs: number; expiresAtMs: number },
): boolean {
  const insert = `INSERT INTO leases (name, holder, expires_at_ms) VALUES (:name, :holder, :expiresAtMs)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
      WHERE holder = :gone OR expires_at_ms <= :nowMs`;
  const { changes } = db.statement(insert).run(input);
  return changes === 1;
}

function renewLease(db: Connection, input: { name: string; holder: string; expiresAtMs: number }): boolean {
  const { changes } = db.statement('UPDATE leases SET expires_at_ms = :expiresAtMs WHERE name = :name AND holder = :holder').run(input);
  return changes === 1;
}

function giveBackLease(db: Connection, input: { name: string; holder: string }): void {
  db.statement('DELETE FROM leases WHERE name = :name AND holder = :holder').run(input);
}

export const transactions = { takeLease, renewLease, giveBackLease };
