/** Installations of an app: whom POST /v1/identify bound each to (PERSON-7), and when it was last seen. */

import { addAppHour, HOUR_MS } from '../billing/app-hours.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, flag, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const deviceBinding = columns({
  endUserId: text.from('u.id'),
  externalUserId: text,
  proven: flag,
  sinceMs: integer.from('coalesce(d.bound_at_ms, 0)'),
});

export type DeviceBinding = RowOf<typeof deviceBinding>;

/** For requests that name no person. Once the person's record was signed for, only a signed binding counts. */
export function readBinding(db: Connection, appId: string, channel: Channel, deviceId: string): DeviceBinding | undefined {
  const from = `FROM devices d JOIN end_users u ON u.id = d.end_user_id
    WHERE d.app_id = :appId AND d.channel = :channel AND d.device_id = :deviceId AND d.proven >= u.verified`;
  return deviceBinding.get(db, from, { appId, channel, deviceId });
}

interface Device {
  readonly appId: string;
  readonly channel: Channel;
  readonly deviceId: string;
}

/** Binds the device to this person only. A binding that exists already keeps its time. */
export function bindDevice(
  db: Connection,
  { appId, channel, deviceId }: Device,
  { endUserId, proven, nowMs }: { endUserId: string; proven: boolean; nowMs: number },
): void {
  const insert = `INSERT INTO devices (app_id, channel, device_id, end_user_id, proven, bound_at_ms)
    VALUES (:appId, :channel, :deviceId, :endUserId, :proven, :nowMs)
    ON CONFLICT (app_id, channel, device_id)
      DO UPDATE SET end_user_id = :endUserId, proven = :proven,
        bound_at_ms = CASE WHEN end_user_id = :endUserId THEN bound_at_ms ELSE :nowMs END`;
  db.statement(insert).run({ appId, channel, deviceId, endUserId, proven: proven ? 1 : 0, nowMs });
}

export function unbindFromOthers(db: Connection, { appId, channel, deviceId }: Device, endUserId: string): void {
  const update = `UPDATE devices SET end_user_id = NULL, proven = 0, bound_at_ms = NULL
    WHERE app_id = :appId AND channel = :channel AND device_id = :deviceId AND end_user_id <> :endUserId`;
  db.statement(update).run({ appId, channel, deviceId, endUserId });
}

export function unbindPerson(db: Connection, endUserId: string): void {
  db.statement('UPDATE devices SET end_user_id = NULL, proven = 0, bound_at_ms = NULL WHERE end_user_id = :endUserId').run({ endUserId });
}

const boundDevice = columns({ deviceId: text, proven: flag, boundAtMs: orNull(integer), seenAtMs: orNull(integer) });

export function listBoundDevices(db: Connection, endUserId: string, limit: number): RowOf<typeof boundDevice>[] {
  return boundDevice.all(db, 'FROM devices WHERE end_user_id = :endUserId ORDER BY device_id LIMIT :limit', { endUserId, limit });
}

export interface Sighting {
  readonly appId: string;
  readonly deviceId: string;
}

/** Notes that these devices opened their app with a live key, from which users are counted (LIMIT-33); sightings for deleted apps are dropped. */
function seeDevices(db: Connection, input: { sightings: readonly Sighting[]; nowMs: number }): void {
  const see = db.statement(
    `INSERT INTO devices (app_id, channel, device_id, seen_at_ms)
     SELECT :appId, 'live', :deviceId, :nowMs FROM apps WHERE id = :appId
     ON CONFLICT (app_id, channel, device_id) DO UPDATE SET seen_at_ms = max(coalesce(seen_at_ms, 0), excluded.seen_at_ms)`,
  );
  const dayMs = input.nowMs - (input.nowMs % (24 * HOUR_MS));
  const seen = `SELECT seen_at_ms FROM devices WHERE app_id = :appId AND channel = 'live' AND device_id = :deviceId`;
  const people = new Map<string, number>();
  for (const { appId, deviceId } of input.sightings) {
    if ((readValue(db, orNull(integer), seen, { appId, deviceId }) ?? 0) < dayMs) people.set(appId, (people.get(appId) ?? 0) + 1);
    see.run({ appId, deviceId, nowMs: input.nowMs });
  }
  const hour = Math.floor(input.nowMs / HOUR_MS);
  for (const [appId, count] of people) addAppHour(db, { appId, channel: 'live', hour, ended: 0, failed: 0, people: count, firstWords: [] });
}

export const transactions = { seeDevices };
