/** Rows of uploads (UPLOAD-9): owner, expiry, and the message that uses the upload. */
import { requireAppRow } from '../apps/apps.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, orNull, type RowOf, readIds, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { type QuotaFull, roomInQuotas, type UploadOwner } from './upload-quotas.ts';

const uploadRow = columns({
  id: text,
  appId: text,
  channel: text.as<Channel>(),
  deviceId: text,
  /** The file's name: sealed (upload-files.ts) until a message uses it, in placeholder form from then on. */
  name: text,
  mediaType: text,
  /** Bytes. */
  size: integer,
  expiresAtMs: orNull(integer),
  messageId: orNull(text),
});

export type UploadRow = RowOf<typeof uploadRow>;

interface NewUpload extends Omit<UploadRow, 'messageId' | 'expiresAtMs'>, UploadOwner {
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly appMaxBytes: number;
}

/** `evicted`: uploads whose rows were deleted; the caller deletes their files. */
type SaveUploadOutput = { readonly full: QuotaFull } | { readonly full: null; readonly evicted: readonly string[] };

const shown = {
  messageId: text,
  uploadId: text.from('id'),
  name: text,
  mediaType: text,
  /** Bytes. */
  size: integer,
};

const shownAttachment = columns(shown);
export type ShownAttachment = RowOf<typeof shownAttachment>;

const messageAttachment = columns({
  ...shown,
  /** In placeholder form; null for an image. */
  text: orNull(text),
});
type MessageAttachment = RowOf<typeof messageAttachment>;

/** The uploads with these ids, in no order; ids that name none are left out. At most a turn's worth of ids. */
export function readUploads(db: Connection, uploadIds: readonly string[]): UploadRow[] {
  return uploadRow.all(db, 'FROM uploads WHERE id IN (SELECT value FROM json_each(:ids))', { ids: JSON.stringify(uploadIds) });
}

export function knownUploads(db: Connection, uploadIds: readonly string[]): ReadonlySet<string> {
  const ids = JSON.stringify(uploadIds);
  return new Set(readIds(db, 'FROM uploads WHERE id IN (SELECT value FROM json_each(:ids))', { ids }));
}

/** Up to `limit` uploads of an app after the id `after` ('' for the first), for its deletion, which removes the rows but not the files. */
export function uploadIdsOfApp(db: Connection, appId: string, after: string, limit: number): string[] {
  return readIds(db, 'FROM uploads WHERE app_id = :appId AND id > :after ORDER BY id LIMIT :limit', { appId, after, limit });
}

const ATTACHED = 'FROM uploads WHERE message_id IN (SELECT value FROM json_each(:ids)) ORDER BY message_id, position';

/** The attachments of these messages in their order, by message; messages without any are absent. Their texts, which are long, are not read. */
export function shownAttachments(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, readonly ShownAttachment[]> {
  const attachments = new Map<string, ShownAttachment[]>();
  for (const shown of shownAttachment.all(db, ATTACHED, { ids: JSON.stringify(messageIds) })) {
    const ofMessage = attachments.get(shown.messageId);
    if (ofMessage === undefined) attachments.set(shown.messageId, [shown]);
    else ofMessage.push(shown);
  }
  return attachments;
}

export function attachmentsOfMessages(db: Connection, messageIds: readonly string[]): MessageAttachment[] {
  return messageAttachment.all(db, ATTACHED, { ids: JSON.stringify(messageIds) });
}

export function nextUploadDeadline(db: Connection): number | null {
  return readValue(db, orNull(integer), 'SELECT min(expires_at_ms) FROM uploads WHERE expires_at_ms IS NOT NULL') ?? null;
}

/** Keeps nothing when a quota is full. @throws Refusal not_found when the app was deleted meanwhile. */
function saveUpload(db: Connection, upload: NewUpload): SaveUploadOutput {
  requireAppRow(db, upload.appId);
  const { id, appId, channel, deviceId, address, name, mediaType, size, nowMs, expiresAtMs, appMaxBytes } = upload;
  const room = roomInQuotas(db, { appId, channel, deviceId, address }, { bytes: size, appMaxBytes, nowMs });
  if ('scope' in room) return { full: room };
  const remove = db.statement('DELETE FROM uploads WHERE id = :id AND message_id IS NULL');
  for (const old of room.evicted) remove.run({ id: old });
  const insert = `INSERT INTO uploads (id, app_id, channel, device_id, address, name, media_type, size, created_at_ms, expires_at_ms)
    VALUES (:id, :appId, :channel, :deviceId, :address, :name, :mediaType, :size, :nowMs, :expiresAtMs)`;
  db.statement(insert).run({ id, appId, channel, deviceId, address, name, mediaType, size, nowMs, expiresAtMs });
  return { full: null, evicted: room.evicted };
}

/** Deletes the rows of uploads that were not used in time, `limit` at most; returns their ids, so that the caller deletes the files. */
function expireUploads(db: Connection, { nowMs, limit }: { nowMs: number; limit: number }): string[] {
  const remove =
    'DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE expires_at_ms <= :nowMs ORDER BY expires_at_ms LIMIT :limit) RETURNING id';
  return readValues(db, text, remove, { nowMs, limit });
}

/** The same for those of `uploadIds` that have expired; at most as many as one turn may attach. */
function dropExpiredUploads(db: Connection, { uploadIds, nowMs }: { uploadIds: readonly string[]; nowMs: number }): string[] {
  const write = 'DELETE FROM uploads WHERE id IN (SELECT value FROM json_each(:ids)) AND expires_at_ms <= :nowMs RETURNING id';
  return readValues(db, text, write, { ids: JSON.stringify(uploadIds), nowMs });
}

export interface UploadUse {
  readonly id: string;
  readonly position: number;
  readonly name: string;
  /** In placeholder form; null for an image. */
  readonly text: string | null;
}

/** Attaches uploads in the transaction that stores the message. False, and to be rolled back, when one is gone or another message's. */
export function useUploads(db: Connection, { messageId, uploads }: { messageId: string; uploads: readonly UploadUse[] }): boolean {
  const use = db.statement(
    `UPDATE uploads SET message_id = :messageId, position = :position, name = :name, text = :text, expires_at_ms = NULL,
       address = ''
     WHERE id = :id AND message_id IS NULL`,
  );
  return uploads.every((upload) => use.run({ ...upload, messageId }).changes === 1);
}

export const transactions = { saveUpload, expireUploads, dropExpiredUploads };
