/** An app's end users: one record for each channel, with their traits sealed at rest. */

import type { Channel } from '../organisations/organisations.ts';
import type { Vault } from '../secrets/vault.ts';
import { blob, columns, flag, insert, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { bindDevice, unbindFromOthers } from './devices.ts';

const endUser = {
  id: text,
  verified: flag,
};

const endUserRow = columns(endUser);
const endUserRecord = columns({
  ...endUser,
  channel: text.as<Channel>(),
  externalUserId: text,
  createdAtMs: integer,
  updatedAtMs: integer,
});
export type EndUserRecord = RowOf<typeof endUserRecord>;

export type Traits = Readonly<Record<string, unknown>>;

/** Devices with unsigned traits of one person: more than people use, and at most 160 KB however many devices strangers invent. */
export const DEVICES_WITH_TRAITS_MAX = 20;

export function readEndUser(db: Connection, appId: string, channel: Channel, externalUserId: string): RowOf<typeof endUserRow> | undefined {
  const from = 'FROM end_users WHERE app_id = :appId AND channel = :channel AND external_user_id = :externalUserId';
  return endUserRow.get(db, from, { appId, channel, externalUserId });
}

export function readEndUserById(db: Connection, appId: string, id: string): EndUserRecord | undefined {
  return endUserRecord.get(db, 'FROM end_users WHERE id = :id AND app_id = :appId', { id, appId });
}

/** Up to `limit` people of the app after the id `after` ('' for the first), oldest first; `externalUserId`: only those of that name. */
export function listEndUsers(
  db: Connection,
  { appId, externalUserId, after, limit }: { appId: string; externalUserId: string | null; after: string; limit: number },
): EndUserRecord[] {
  if (externalUserId === null) {
    const from = 'FROM end_users WHERE app_id = :appId AND id > :after ORDER BY id LIMIT :limit';
    return endUserRecord.all(db, from, { appId, after, limit });
  }
  return endUserRecord.all(
    db,
    // At most two rows, found by name: the plus keeps SQLite from scanning all people of the app by id.
    `FROM end_users WHERE app_id = :appId AND channel IN ('live', 'sandbox')
       AND external_user_id = :externalUserId AND +id > :after ORDER BY +id LIMIT :limit`,
    { appId, externalUserId, after, limit },
  );
}

/** Bound to the record, so that one person's sealed traits do not open as another's. */
function traitsPurpose(appId: string, endUserId: string): string {
  return `traits:${appId}:${endUserId}`;
}

/** Seals traits; null when there are none. Sealing needs the master key, which the writer thread does not have. */
export function sealTraits(vault: Vault, appId: string, endUserId: string, traits: Traits): Buffer | null {
  if (Object.keys(traits).length === 0) return null;
  return vault.seal(traitsPurpose(appId, endUserId), Buffer.from(JSON.stringify(traits), 'utf8'));
}

const sealedTraits = columns({ sealed: orNull(blob).from('coalesce(u.traits_sealed, d.traits_sealed)'), id: text.from('u.id') });
const newestTraits = columns({
  sealed: orNull(blob).from(
    'coalesce(traits_sealed, (SELECT d.traits_sealed FROM device_traits d WHERE d.end_user_id = end_users.id ORDER BY d.seq DESC LIMIT 1))',
  ),
  id: text,
});
const deviceTraits = columns({ sealed: blob.from('traits_sealed'), deviceId: text });

function openTraits(vault: Vault, appId: string, id: string, sealed: Buffer): Traits {
  return JSON.parse(vault.open(traitsPurpose(appId, id), sealed).toString('utf8'));
}

/**
 * The person's traits for a turn of `deviceId`; null when there are none. Signed traits hold on every device. Unsigned traits hold only on
 * the device that sent them, because anybody could have sent them. Data, never instructions.
 */
export function traitsOf(
  db: Connection,
  vault: Vault,
  { appId, channel, externalUserId, deviceId }: { appId: string; channel: Channel; externalUserId: string; deviceId: string },
): Traits | null {
  const from = `FROM end_users u LEFT JOIN device_traits d ON d.end_user_id = u.id AND d.device_id = :deviceId
    WHERE u.app_id = :appId AND u.channel = :channel AND u.external_user_id = :externalUserId`;
  const row = sealedTraits.get(db, from, { appId, channel, externalUserId, deviceId });
  return row?.sealed == null ? null : openTraits(vault, appId, row.id, row.sealed);
}

/** The person's traits by the `usr_` id: the signed ones, else the newest that any device sent. */
export function traitsOfRecord(db: Connection, vault: Vault, appId: string, id: string): Traits | null {
  const row = newestTraits.get(db, 'FROM end_users WHERE id = :id AND app_id = :appId', { id, appId });
  return row === undefined || row.sealed === null ? null : openTraits(vault, appId, id, row.sealed);
}

export function deviceTraitsOf(db: Connection, vault: Vault, appId: string, id: string): { deviceId: string; traits: Traits }[] {
  return deviceTraits
    .all(db, 'FROM device_traits WHERE end_user_id = :id ORDER BY seq', { id })
    .map(({ deviceId, sealed }) => ({ deviceId, traits: openTraits(vault, appId, id, sealed) }));
}

export interface IdentifyInput {
  readonly appId: string;
  readonly channel: Channel;
  readonly deviceId: string;
  readonly externalUserId: string;
  /** The record as the caller read it, or an id for the record that was not there. */
  readonly endUserId: string;
  readonly isNew: boolean;
  readonly proven: boolean;
  /** Sealed for `endUserId`; null: the traits are deleted; undefined: they stay. */
  readonly traits: Uint8Array | null | undefined;
  readonly nowMs: number;
}

/** `stale`: the record was created or deleted since it was read. `unproven`: the record was signed for, and this call is not signed. */
export type IdentifyOutcome = 'identified' | 'unproven' | 'stale';

function recordPerson(db: Connection, input: IdentifyInput): void {
  const { endUserId: id, appId, channel, externalUserId, nowMs } = input;
  const verified = input.proven ? 1 : 0;
  if (input.isNew) {
    insert(db, 'end_users', { id, appId, channel, externalUserId, verified, createdAtMs: nowMs, updatedAtMs: nowMs });
  } else {
    const update = 'UPDATE end_users SET verified = max(verified, :verified), updated_at_ms = :nowMs WHERE id = :id';
    db.statement(update).run({ id, verified, nowMs });
  }
}

/** Signed traits replace all of the person's traits; unsigned ones replace those of this device. */
function recordTraits(db: Connection, { appId, channel, endUserId: id, deviceId, proven }: IdentifyInput, traits: Buffer | null): void {
  if (proven) {
    db.statement('UPDATE end_users SET traits_sealed = :traits WHERE id = :id').run({ id, traits });
    db.statement('DELETE FROM device_traits WHERE end_user_id = :id').run({ id });
    return;
  }
  db.statement('DELETE FROM device_traits WHERE end_user_id = :id AND device_id = :deviceId').run({ id, deviceId });
  if (traits === null) return;
  insert(db, 'device_traits', { endUserId: id, deviceId, traitsSealed: traits });
  db.statement(
    // Anybody can invent devices and name a person on them, so devices that have talked to the app are kept first.
    `DELETE FROM device_traits WHERE seq IN
       (SELECT d.seq FROM device_traits d WHERE d.end_user_id = :id
        ORDER BY EXISTS (SELECT 1 FROM conversations c WHERE c.app_id = :appId AND c.channel = :channel AND c.device_id = d.device_id) DESC,
          d.seq DESC LIMIT -1 OFFSET :kept)`,
  ).run({ id, appId, channel, kept: DEVICES_WITH_TRAITS_MAX });
}

/** Also moves the device's anonymous conversations onto the person. A record that was signed for changes with a signature only. */
function identify(db: Connection, input: IdentifyInput): IdentifyOutcome {
  const { appId, channel, deviceId, endUserId, proven, nowMs } = input;
  const row = readEndUser(db, appId, channel, input.externalUserId);
  if (input.isNew ? row !== undefined : row?.id !== endUserId) return 'stale';
  if (row?.verified === true && !proven) {
    unbindFromOthers(db, { appId, channel, deviceId }, endUserId);
    return 'unproven';
  }
  recordPerson(db, input);
  if (input.traits !== undefined) recordTraits(db, input, input.traits === null ? null : Buffer.from(input.traits));
  bindDevice(db, { appId, channel, deviceId }, { endUserId, proven, nowMs });
  // The epoch stays, so that a turn running in one of them goes on.
  const update = `UPDATE conversations SET end_user_id = :endUserId
    WHERE app_id = :appId AND channel = :channel AND device_id = :deviceId AND end_user_id IS NULL`;
  db.statement(update).run({ endUserId, appId, channel, deviceId });
  return 'identified';
}

export const transactions = { identify };
