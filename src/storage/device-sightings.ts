/** When devices last opened their app with a live key: what users are counted by (service.md "Limits" rule 7). */
import type { Connection } from './connection.ts';

export interface Sighting {
  readonly appId: string;
  readonly deviceId: string;
}

/** Notes that these devices were seen; those of apps that are gone are forgotten. */
function seeDevices(db: Connection, input: { sightings: readonly Sighting[]; nowMs: number }): void {
  const see = db.statement(
    `INSERT INTO devices (app_id, channel, device_id, seen_at_ms)
     SELECT :appId, 'live', :deviceId, :nowMs FROM apps WHERE id = :appId
     ON CONFLICT (app_id, channel, device_id) DO UPDATE SET seen_at_ms = max(coalesce(seen_at_ms, 0), excluded.seen_at_ms)`,
  );
  for (const { appId, deviceId } of input.sightings) see.run({ appId, deviceId, nowMs: input.nowMs });
}

export const transactions = { seeDevices };
