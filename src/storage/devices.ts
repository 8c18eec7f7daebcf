/** Installations of an app: whom POST /v1/identify bound each to (service.md "POST /v1/identify"), and when it was last seen. */
import type { Connection } from './connection.ts';
import type { Channel } from './organisations.ts';

export interface DeviceBinding {
  readonly endUserId: string;
  readonly externalUserId: string;
}

/**
 * The person a device stands for when a request names none. A person whose record was signed for is stood for only by a
 * device that was bound with a signature; for anybody else's it is as if the device were not bound.
 */
export function readBinding(db: Connection, appId: string, channel: Channel, deviceId: string): DeviceBinding | undefined {
  const row = db
    .statement(
      `SELECT u.id, u.external_user_id FROM devices d JOIN end_users u ON u.id = d.end_user_id
       WHERE d.app_id = :appId AND d.channel = :channel AND d.device_id = :deviceId AND d.proven >= u.verified`,
    )
    .get({ appId, channel, deviceId });
  return row === undefined ? undefined : { endUserId: row.id as string, externalUserId: row.external_user_id as string };
}
