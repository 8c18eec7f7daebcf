/** Receives what people attach (UPLOAD-1 to UPLOAD-8): the file is stored first, then its row, so that no row names a missing file. */

import { accessSync, constants } from 'node:fs';
import type { Logger } from 'pino';
import { uploadType } from '../../assistant/attachments/upload-type.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { UPLOAD_MAX_BYTES, UPLOAD_UNUSED_HOURS, UPLOADS_RETRY_AFTER_S } from '../../protocol/limits.ts';
import { type UploadReply, uploadName } from '../../protocol/runtime/uploads.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { createDiskRoom, type DiskRoom } from '../../storage/health/disk-room.ts';
import type { Storage } from '../../storage/storage.ts';
import { deleteUploadFiles, sealUploadName, writeUploadFile } from '../../storage/uploads/upload-files.ts';
import {
  appQuotaBytes,
  hasRoomForUpload,
  type QuotaFull,
  type QuotaScope,
  roomInQuotas,
  type UploadOwner,
} from '../../storage/uploads/upload-quotas.ts';
import { type Uploader, type UploadSlot, UploadSlots } from './upload-slots.ts';

const HOUR_MS = 3_600_000;

export type UploadReceiver = ReturnType<typeof createUploadReceiver>;

export interface UploadReceiverServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  noteDeadline(organisationId: string, atMs: number): void;
  readonly diskRoom?: () => DiskRoom;
  readonly slots?: UploadSlots;
}

function unavailable(why: string): Refusal {
  return new Refusal('uploads_unavailable', `${why} Send the file again in some seconds.`, { retryAfterS: UPLOADS_RETRY_AFTER_S });
}

const WHOSE: Readonly<Record<QuotaScope, string>> = {
  device: 'This device has',
  address: 'The devices of this network have',
  app: 'People of this app have',
};

function quotaRefusal({ scope, atMs }: QuotaFull, nowMs: number): Refusal {
  const message = `${WHOSE[scope]} uploaded more files than may wait for a message. Attach some of them, or send the file again later.`;
  return new Refusal('rate_limited', message, { retryAfterS: Math.max(UPLOADS_RETRY_AFTER_S, Math.ceil((atMs - nowMs) / 1_000)) });
}

type Taken = Readonly<{ uploadId: string; bytes: Uint8Array; name: string; mediaType: string; atMs: number }>;

/** Storage errors keep their own refusal; that the app is gone is not told to its users. */
function failureOf({ organisationId }: Uploader, error: unknown, log: Logger): Refusal {
  if (error instanceof Refusal && error.code !== 'not_found') return error;
  log.warn(
    { err: error, organisation_id: organisationId },
    'storing an upload failed: check the disk; the client was told to send it again',
  );
  return new Refusal('upload_failed', 'The file could not be stored. Send it again.', { retryAfterS: UPLOADS_RETRY_AFTER_S });
}

function ownerOf({ appId, channel, deviceId, address }: Uploader, vault: Storage['vault']): UploadOwner {
  if (address === '') return { appId, channel, deviceId, address };
  // Keyed, so that the file alone reveals no address.
  return { appId, channel, deviceId, address: vault.digest('upload-address', Buffer.from(address)).toString('base64') };
}

export function createUploadReceiver(services: UploadReceiverServices) {
  const { storage, log, nowMs, noteDeadline, slots = new UploadSlots(), diskRoom = createDiskRoom(storage.layout.uploads) } = services;

  /** @throws Refusal uploads_unavailable. */
  function requireDisk(): DiskRoom {
    let room: DiskRoom;
    try {
      accessSync(storage.layout.uploads, constants.W_OK | constants.X_OK);
      room = diskRoom();
    } catch {
      throw unavailable('Files cannot be stored at the moment.');
    }
    if (!hasRoomForUpload(room, UPLOAD_MAX_BYTES)) throw unavailable('There is no room for files at the moment.');
    return room;
  }

  /** Before a byte is read, or written; the transaction that adds the row asks again. @throws Refusal uploads_unavailable, rate_limited. */
  function requireRoom(caller: Uploader, bytes: number): void {
    const wanted = { bytes, appMaxBytes: appQuotaBytes(requireDisk()), nowMs: nowMs() };
    let room: ReturnType<typeof roomInQuotas>;
    try {
      room = roomInQuotas(storage.organisation(caller.organisationId), ownerOf(caller, storage.vault), wanted);
    } catch (error) {
      throw failureOf(caller, error, log);
    }
    if ('scope' in room) throw quotaRefusal(room, wanted.nowMs);
  }

  async function saveRow(caller: Uploader, { uploadId, bytes, name, mediaType, atMs }: Taken): Promise<number> {
    const expiresAtMs = atMs + UPLOAD_UNUSED_HOURS * HOUR_MS;
    const saved = await storage.write(caller.organisationId, 'saveUpload', {
      ...ownerOf(caller, storage.vault),
      id: uploadId,
      name: sealUploadName(storage.vault, uploadId, name),
      mediaType,
      size: bytes.length,
      expiresAtMs,
      nowMs: atMs,
      appMaxBytes: appQuotaBytes(diskRoom()),
    });
    if (saved.full !== null) throw quotaRefusal(saved.full, atMs);
    // Files that remain have no row, and the next start deletes them.
    await deleteUploadFiles(storage.layout, caller.organisationId, saved.evicted).catch(() => {});
    return expiresAtMs;
  }

  return {
    /** Takes a slot before the file is read. @throws Refusal uploads_unavailable (no slot, a full disk), rate_limited, upload_failed. */
    enter(caller: Uploader): UploadSlot {
      requireRoom(caller, 1);
      return slots.enter(caller);
    },
    /** Keeps the file. @throws Refusal 415 unsupported_media_type, 429 rate_limited, 502 upload_failed, 503 uploads_unavailable. */
    async receive(caller: Uploader, { bytes, fileName }: { readonly bytes: Uint8Array; readonly fileName: string }): Promise<UploadReply> {
      requireRoom(caller, bytes.length);
      const mediaType = await uploadType(bytes, caller.organisationId).catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
        log.error({ err: error }, 'an upload could not be examined: no parser process starts, or it cannot load its libraries');
        throw unavailable('Images cannot be examined at the moment.');
      });
      const name = uploadName(fileName, mediaType);
      const atMs = nowMs();
      const uploadId = mintId('upl', atMs);
      try {
        await writeUploadFile(storage, caller.organisationId, uploadId, bytes);
        const expiresAtMs = await saveRow(caller, { uploadId, bytes, name, mediaType, atMs });
        noteDeadline(caller.organisationId, expiresAtMs);
        return { upload_id: uploadId, name, media_type: mediaType, size: bytes.length, expires_at: timestamp(expiresAtMs) };
      } catch (error) {
        // A file that remains has no row, and the next start deletes it.
        await deleteUploadFiles(storage.layout, caller.organisationId, [uploadId]).catch(() => {});
        throw failureOf(caller, error, log);
      }
    },
  };
}
