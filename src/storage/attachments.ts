/** What people attached to their messages, as it is shown beside them; the files themselves are not read here. */
import type { Connection } from './connection.ts';

export interface Attachment {
  readonly uploadId: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
}

/** The attachments of these messages in their order, by message; one that has none is missing. */
export function readAttachments(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, readonly Attachment[]> {
  const attachments = new Map<string, Attachment[]>();
  const rows = db
    .statement(
      `SELECT id, name, media_type, size, message_id FROM uploads
       WHERE message_id IN (SELECT value FROM json_each(:messageIds)) ORDER BY message_id, position`,
    )
    .all({ messageIds: JSON.stringify(messageIds) });
  for (const row of rows) {
    const ofMessage = attachments.get(row.message_id as string) ?? [];
    ofMessage.push({
      uploadId: row.id as string,
      name: row.name as string,
      mediaType: row.media_type as string,
      size: row.size as number,
    });
    attachments.set(row.message_id as string, ofMessage);
  }
  return attachments;
}
