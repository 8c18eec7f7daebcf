/** Pairings of a test build with the console's Test page (PAIRING-2). The `pairing` machine decides a row's state at each read. */
import { Refusal } from '../../protocol/errors.ts';
import { columns, countRows, insert, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTrace, type NewTrace } from '../traces/traces.ts';

const pairingRow = columns({
  id: text,
  appId: text,
  createdAtMs: integer,
  codeExpiresAtMs: integer,
  claimedAtMs: orNull(integer),
  deviceId: orNull(text),
  watchedUntilMs: orNull(integer),
  endedAtMs: orNull(integer),
});

export type PairingRow = RowOf<typeof pairingRow>;

/** Unclaimed codes of an app; a person looks at one page at a time. */
export const OPEN_PAIRINGS_MAX = 10;
/** Builds of an app that are watched at the same time: a team's devices. */
const WATCHED_PAIRINGS_MAX = 50;
/** Ended pairings are kept as history; the oldest are deleted first. */
const ENDED_KEPT = 50;
/** A pairing lasts two hours and a quarter; after this its id is as good as never minted. */
const LISTED_MS = 30 * 24 * 3_600_000;

export function readPairing(db: Connection, id: string): PairingRow | undefined {
  return pairingRow.get(db, 'FROM pairings WHERE id = :id', { id });
}

export function readPairingByCode(db: Connection, appId: string, codeHash: string): PairingRow | undefined {
  // The search compares hashes: its timing could reveal a hash at most, and no code can be derived from that.
  const row = pairingRow.get(db, 'FROM pairings WHERE code_hash = :codeHash', { codeHash });
  return row?.appId === appId ? row : undefined;
}

/** Pairings of the app that are neither claimed nor ended, newest first; the codes of some may have expired. */
export function readUnclaimed(db: Connection, appId: string): PairingRow[] {
  const from = 'FROM pairings WHERE app_id = :appId AND claimed_at_ms IS NULL AND ended_at_ms IS NULL ORDER BY created_at_ms DESC, id DESC';
  return pairingRow.all(db, from, { appId });
}

export function organisationOfPairing(control: Connection, id: string): string | undefined {
  return readValue(control, text, 'SELECT organisation_id FROM pairing_directory WHERE pairing_id = :id', { id });
}

/** A pairing that makes room for another, with the steps that led there; null or absent: there are none. */
export interface ReplacedPairing {
  readonly id: string;
  readonly trace?: NewTrace | null;
}

export interface PairingEnd extends ReplacedPairing {
  readonly claimedAtMs: number | null;
  readonly nowMs: number;
}

function keepTrace(db: Connection, { id, nowMs, trace }: ReplacedPairing & { readonly nowMs: number }): void {
  const row = trace == null ? undefined : readPairing(db, id);
  if (trace != null && row !== undefined) insertTrace(db, { appId: row.appId, machine: 'pairing', instance: id, nowMs }, trace);
}

function refuseWithoutRoom(db: Connection, appId: string, nowMs: number): void {
  const watched = 'FROM pairings WHERE app_id = :appId AND ended_at_ms IS NULL AND watched_until_ms > :nowMs';
  if (countRows(db, watched, { appId, nowMs }) < WATCHED_PAIRINGS_MAX) return;
  throw new Refusal(
    'conflict',
    `${WATCHED_PAIRINGS_MAX} builds of this app are being watched. Wait until the first one's two hours are over.`,
  );
}

function forgetEnded(db: Connection, appId: string, nowMs: number): void {
  const remove = `DELETE FROM pairings WHERE id IN (
      SELECT id FROM pairings WHERE app_id = :appId AND coalesce(watched_until_ms, code_expires_at_ms) <= :nowMs
      ORDER BY created_at_ms DESC, id DESC LIMIT -1 OFFSET :kept)`;
  db.statement(remove).run({ appId, nowMs, kept: ENDED_KEPT });
}

export const transactions = {
  /** Notes in `control.sqlite` whose pairing this is; written before the pairing itself. */
  registerPairing(control: Connection, { id, organisationId, nowMs }: { id: string; organisationId: string; nowMs: number }): void {
    control.statement('DELETE FROM pairing_directory WHERE created_at_ms < :oldestMs').run({ oldestMs: nowMs - LISTED_MS });
    insert(control, 'pairing_directory', { pairingId: id, organisationId, createdAtMs: nowMs });
  },

  /** Ends those of `replaced` that still wait. False when more than OPEN_PAIRINGS_MAX would wait then. @throws Refusal conflict. */
  openPairing(
    db: Connection,
    input: { id: string; appId: string; codeHash: string; codeExpiresAtMs: number; nowMs: number; replaced: readonly ReplacedPairing[] },
  ): boolean {
    const { appId, nowMs, replaced, ...row } = input;
    refuseWithoutRoom(db, appId, nowMs);
    const others = readUnclaimed(db, appId).filter(
      ({ id, codeExpiresAtMs }) => codeExpiresAtMs > nowMs && !replaced.some((one) => one.id === id),
    );
    if (others.length >= OPEN_PAIRINGS_MAX) return false;
    const end = db.statement(
      'UPDATE pairings SET code_expires_at_ms = :nowMs, ended_at_ms = :nowMs WHERE id = :id AND claimed_at_ms IS NULL AND ended_at_ms IS NULL',
    );
    for (const one of replaced) if (end.run({ id: one.id, nowMs }).changes === 1) keepTrace(db, { ...one, nowMs });
    forgetEnded(db, appId, nowMs);
    insert(db, 'pairings', { ...row, appId, createdAtMs: nowMs });
    return true;
  },

  /** Claims an open pairing. False when it was claimed, replaced or ended since its `codeExpiresAtMs` was read. */
  claimPairing(
    db: Connection,
    input: { id: string; codeExpiresAtMs: number; deviceId: string; watchedUntilMs: number; nowMs: number; trace?: NewTrace | null },
  ): boolean {
    const { trace, ...claim } = input;
    const update = `UPDATE pairings SET claimed_at_ms = :nowMs, device_id = :deviceId, watched_until_ms = :watchedUntilMs
      WHERE id = :id AND claimed_at_ms IS NULL AND ended_at_ms IS NULL AND code_expires_at_ms = :codeExpiresAtMs`;
    const { changes } = db.statement(update).run(claim);
    if (changes === 1) keepTrace(db, input);
    return changes === 1;
  },

  /** Stores that the pairing was reported as expired, unless it was claimed since `claimedAtMs` was read. */
  endPairing(db: Connection, input: PairingEnd): void {
    const { id, claimedAtMs, nowMs } = input;
    const update = 'UPDATE pairings SET ended_at_ms = :nowMs WHERE id = :id AND ended_at_ms IS NULL AND claimed_at_ms IS :claimedAtMs';
    if (db.statement(update).run({ id, claimedAtMs, nowMs }).changes === 1) keepTrace(db, input);
  },
};
