/** People of an app as it names them. */
import type { Connection } from './connection.ts';
import type { Channel } from './organisations.ts';

export interface EndUserRow {
  readonly id: string;
  /** A signature was checked for this record once: from then on only signed turns are theirs. */
  readonly verified: boolean;
}

export function readEndUser(db: Connection, appId: string, channel: Channel, externalUserId: string): EndUserRow | undefined {
  const row = db
    .statement('SELECT id, verified FROM end_users WHERE app_id = :appId AND channel = :channel AND external_user_id = :externalUserId')
    .get({ appId, channel, externalUserId });
  return row === undefined ? undefined : { id: row.id as string, verified: row.verified === 1 };
}
