/** Rows of what people uploaded (UPLOAD-9): whose it is, until when, and the message that uses it. */
import { requireAppRow } from '../apps/apps.ts';
import type { Channel } from '../organisations/organisations.ts';
import type { Connection, Row } from '../sqlite/connection.ts';
import { type QuotaFull, roomInQuotas, type UploadOwner } from './upload-quotas.ts';

export interface UploadRow {
  readonly id: string;
  readonly appId: string;
  readonly channel: Channel;
  readonly deviceId: string;
  /** As the person's device calls the file: sealed (upload-files.ts) until a message uses it, in placeholder form from then on. */
  readonly name: string;
  /** By its content. */
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** Null once a message uses it. */
  readonly expiresAtMs: number | null;
  readonly messageId: string | null;
}

export interface NewUpload extends Omit<UploadRow, 'messageId' | 'expiresAtMs'>, UploadOwner {
  readonly expiresAtMs: number;
  readonly nowMs: number;
  /** What the app may have here that no message uses. */
  readonly appMaxBytes: number;
}

/** `evicted`: uploads whose rows made room; their files are to go. */
export type SaveUploadOutput = { readonly full: QuotaFull } | { readonly full: null; readonly evicted: readonly string[] };

/** What a message shows of an upload. */
export interface ShownAttachment {
  readonly messageId: string;
  readonly uploadId: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
}

/** With the words in it, as the model was given them. */
export interface MessageAttachment extends ShownAttachment {
  /** In placeholder form; null for an image. */
  readonly text: string | null;
}

/** The uploads with these ids, in no order; ids that name none are left out. At most a turn's worth of ids. */
export function readUploads(db: Connection, uploadIds: readonly string[]): UploadRow[] {
  const uploadOf = (row: Row): UploadRow => ({
    id: row.id as string,
    appId: row.app_id as string,
    channel: row.channel as Channel,
    deviceId: row.device_id as string,
    name: row.name as string,
    mediaType: row.media_type as string,
    size: row.size as number,
    expiresAtMs: row.expires_at_ms as number | null,
    messageId: row.message_id as string | null,
  });
  return db
    .statement(
      `SELECT id, app_id, channel, device_id, name, media_type, size, expires_at_ms, message_id FROM uploads
       WHERE id IN (SELECT value FROM json_each(:ids))`,
    )
    .all({ ids: JSON.stringify(uploadIds) })
    .map(uploadOf);
}

/** Which of these uploads have a row. */
export function knownUploads(db: Connection, uploadIds: readonly string[]): ReadonlySet<string> {
  const rows = db
    .statement('SELECT id FROM uploads WHERE id IN (SELECT value FROM json_each(:ids))')
    .all({ ids: JSON.stringify(uploadIds) });
  return new Set(rows.map((row) => row.id as string));
}

/** Up to `limit` uploads of an app after the id `after` ('' for the first), for whoever deletes it: its rows go with it, their files do not. */
export function uploadIdsOfApp(db: Connection, appId: string, after: string, limit: number): string[] {
  return db
    .statement('SELECT id FROM uploads WHERE app_id = :appId AND id > :after ORDER BY id LIMIT :limit')
    .all({ appId, after, limit })
    .map((row) => row.id as string);
}

const SHOWN = 'message_id, id, name, media_type, size';
const ATTACHED = 'WHERE message_id IN (SELECT value FROM json_each(:ids)) ORDER BY message_id, position';

function shownOf(row: Row): ShownAttachment {
  return {
    messageId: row.message_id as string,
    uploadId: row.id as string,
    name: row.name as string,
    mediaType: row.media_type as string,
    size: row.size as number,
  };
}

/** The attachments of these messages in their order, by message; one that has none is missing. Their words, which are long, are not read. */
export function shownAttachments(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, readonly ShownAttachment[]> {
  const attachments = new Map<string, ShownAttachment[]>();
  for (const row of db.statement(`SELECT ${SHOWN} FROM uploads ${ATTACHED}`).all({ ids: JSON.stringify(messageIds) })) {
    const shown = shownOf(row);
    const ofMessage = attachments.get(shown.messageId);
    if (ofMessage === undefined) attachments.set(shown.messageId, [shown]);
    else ofMessage.push(shown);
  }
  return attachments;
}

/** The attachments of these messages with their words, each message's in their order. */
export function attachmentsOfMessages(db: Connection, messageIds: readonly string[]): MessageAttachment[] {
  return db
    .statement(`SELECT ${SHOWN}, text FROM uploads ${ATTACHED}`)
    .all({ ids: JSON.stringify(messageIds) })
    .map((row) => ({ ...shownOf(row), text: row.text as string | null }));
}

/** When the next unused upload runs out, null when there is none. */
export function nextUploadDeadline(db: Connection): number | null {
  const row = db.statement('SELECT min(expires_at_ms) AS at_ms FROM uploads WHERE expires_at_ms IS NOT NULL').get();
  return (row?.at_ms ?? null) as number | null;
}

/** Keeps nothing when a quota is full. @throws Refusal not_found when the app was deleted meanwhile. */
function saveUpload(db: Connection, upload: NewUpload): SaveUploadOutput {
  requireAppRow(db, upload.appId);
  const { id, appId, channel, deviceId, address, name, mediaType, size, nowMs, expiresAtMs, appMaxBytes } = upload;
  const room = roomInQuotas(db, { appId, channel, deviceId, address }, { bytes: size, appMaxBytes, nowMs });
  if ('scope' in room) return { full: room };
  const remove = db.statement('DELETE FROM uploads WHERE id = :id AND message_id IS NULL');
  for (const old of room.evicted) remove.run({ id: old });
  db.statement(
    `INSERT INTO uploads (id, app_id, channel, device_id, address, name, media_type, size, created_at_ms, expires_at_ms)
     VALUES (:id, :appId, :channel, :deviceId, :address, :name, :mediaType, :size, :nowMs, :expiresAtMs)`,
  ).run({ id, appId, channel, deviceId, address, name, mediaType, size, nowMs, expiresAtMs });
  return { full: null, evicted: room.evicted };
}

/** Deletes the rows of uploads that nobody used in time, `limit` at most; answers their ids, whose files are to go. */
function expireUploads(db: Connection, { nowMs, limit }: { nowMs: number; limit: number }): string[] {
  return db
    .statement(
      `DELETE FROM uploads WHERE id IN
         (SELECT id FROM uploads WHERE expires_at_ms <= :nowMs ORDER BY expires_at_ms LIMIT :limit) RETURNING id`,
    )
    .all({ nowMs, limit })
    .map((row) => row.id as string);
}

/** Deletes the rows of those of these uploads that nobody used in time; answers their ids, whose files are to go. At most a turn's worth. */
function dropExpiredUploads(db: Connection, { uploadIds, nowMs }: { uploadIds: readonly string[]; nowMs: number }): string[] {
  return db
    .statement('DELETE FROM uploads WHERE id IN (SELECT value FROM json_each(:ids)) AND expires_at_ms <= :nowMs RETURNING id')
    .all({ ids: JSON.stringify(uploadIds), nowMs })
    .map((row) => row.id as string);
}

export interface UploadUse {
  readonly id: string;
  /** From 0, in the order of the message. */
  readonly position: number;
  /** In placeholder form. */
  readonly name: string;
  /** In placeholder form; null for an image. */
  readonly text: string | null;
}

/**
 * Gives uploads to a message, within the transaction that stores it: they stay as long as it does. False when one is gone or
 * was used by another message meanwhile; then the caller has to take the transaction back.
 */
export function useUploads(db: Connection, { messageId, uploads }: { messageId: string; uploads: readonly UploadUse[] }): boolean {
  const use = db.statement(
    `UPDATE uploads SET message_id = :messageId, position = :position, name = :name, text = :text, expires_at_ms = NULL,
       address = ''
     WHERE id = :id AND message_id IS NULL`,
  );
  return uploads.every((upload) => use.run({ ...upload, messageId }).changes === 1);
}

export const transactions = { saveUpload, expireUploads, dropExpiredUploads };
