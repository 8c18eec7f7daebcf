/**
 * Takes in what people attach (service.md "POST /v1/uploads"). Owns how many uploads are received at once, what is checked of
 * a file, and the order in which it is kept: the file first, then its row, so that no row promises a file that is not there.
 */
import { accessSync, constants, statfsSync } from 'node:fs';
import type { Logger } from 'pino';
import { uploadType } from '../assistant/attachments/upload-type.ts';
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import { UPLOAD_MAX_BYTES, UPLOAD_UNUSED_HOURS, UPLOADS_RETRY_AFTER_S } from '../protocol/limits.ts';
import { type UploadReply, uploadName } from '../protocol/runtime/uploads.ts';
import { timestamp } from '../protocol/timestamp.ts';
import type { Storage } from '../storage/storage.ts';
import { deleteUploadFiles, sealUploadName, writeUploadFile } from '../storage/upload-files.ts';
import type { DeviceCaller } from './ownership.ts';

/** An upload is held in memory while it comes and, sealed, while it is written: 640 MB at the worst. */
export const UPLOADS_AT_ONCE_MAX = 16;
/** One app's slow or hostile clients leave half of the places to the others. */
export const UPLOADS_AT_ONCE_PER_APP_MAX = 8;
/** What one message may attach. */
export const UPLOADS_AT_ONCE_PER_DEVICE_MAX = 4;
/** The database must be able to write on: uploads never take the last of the disk. */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024;

const HOUR_MS = 3_600_000;

export interface UploadIntake {
  /**
   * Takes a place before the file is read; the answer gives it back and may be called again.
   * @throws Refusal 503 uploads_unavailable: no place, or a disk that is full or cannot be written to.
   */
  enter(caller: DeviceCaller): () => void;
  /**
   * Keeps the file for a message of this device. `bytes` are at least one and at most UPLOAD_MAX_BYTES.
   * @throws Refusal 415 unsupported_media_type, 502 upload_failed.
   */
  takeIn(caller: DeviceCaller, file: { readonly bytes: Uint8Array; readonly fileName: string }): Promise<UploadReply>;
}

export interface UploadIntakeServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  noteDeadline(organisationId: string, atMs: number): void;
}

function unavailable(why: string): Refusal {
  return new Refusal('uploads_unavailable', `${why} Send the file again in some seconds.`, { retryAfterS: UPLOADS_RETRY_AFTER_S });
}

/** How many are inside, by whom. */
class Places {
  readonly #taken = new Map<string, number>();

  /** Takes a place under every name, or under none. False: one of the names has all that it may have. */
  take(names: readonly (readonly [name: string, max: number])[]): boolean {
    if (names.some(([name, max]) => (this.#taken.get(name) ?? 0) >= max)) return false;
    for (const [name] of names) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
    return true;
  }

  giveBack(names: readonly (readonly [name: string, max: number])[]): void {
    for (const [name] of names) {
      const left = (this.#taken.get(name) ?? 0) - 1;
      if (left > 0) this.#taken.set(name, left);
      else this.#taken.delete(name);
    }
  }
}

/** @throws Refusal uploads_unavailable. Two system calls, some microseconds. */
function requireDisk(folder: string): void {
  let freeBytes: number;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    freeBytes = bavail * bsize;
  } catch {
    throw unavailable('Files cannot be stored at the moment.');
  }
  if (freeBytes < DISK_RESERVE_BYTES + UPLOAD_MAX_BYTES) throw unavailable('There is no room for files at the moment.');
}

export function createUploadIntake({ storage, log, nowMs, noteDeadline }: UploadIntakeServices): UploadIntake {
  const places = new Places();

  /** @throws whatever the disk or the database refused with; then nothing is kept. */
  async function keep(uploadId: string, caller: DeviceCaller, bytes: Uint8Array, row: { name: string; mediaType: string; atMs: number }) {
    const { organisationId, appId, channel, deviceId } = caller;
    const { atMs, name, mediaType } = row;
    const expiresAtMs = atMs + UPLOAD_UNUSED_HOURS * HOUR_MS;
    try {
      await writeUploadFile(storage, organisationId, uploadId, bytes);
      const upload = {
        id: uploadId,
        appId,
        channel,
        deviceId,
        name: sealUploadName(storage.vault, uploadId, name),
        mediaType,
        size: bytes.length,
        expiresAtMs,
        nowMs: atMs,
      };
      await storage.write(organisationId, 'saveUpload', upload);
    } catch (error) {
      // A file that stays is one without a row, which the next start sweeps away.
      await deleteUploadFiles(storage.layout, organisationId, [uploadId]).catch(() => {});
      throw error;
    }
    noteDeadline(organisationId, expiresAtMs);
    return expiresAtMs;
  }

  return {
    enter({ appId, deviceId }) {
      const names = [
        ['', UPLOADS_AT_ONCE_MAX],
        [appId, UPLOADS_AT_ONCE_PER_APP_MAX],
        [`${appId} ${deviceId}`, UPLOADS_AT_ONCE_PER_DEVICE_MAX],
      ] as const;
      if (!places.take(names)) throw unavailable('Too many files are being uploaded at once.');
      let inside = true;
      const leave = () => {
        if (inside) places.giveBack(names);
        inside = false;
      };
      try {
        requireDisk(storage.layout.uploads);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    async takeIn(caller, { bytes, fileName }) {
      const mediaType = await uploadType(bytes);
      const name = uploadName(fileName, mediaType);
      const atMs = nowMs();
      const uploadId = mintId('upl', atMs);
      try {
        const expiresAtMs = await keep(uploadId, caller, bytes, { name, mediaType, atMs });
        return { upload_id: uploadId, name, media_type: mediaType, size: bytes.length, expires_at: timestamp(expiresAtMs) };
      } catch (error) {
        log.warn({ err: error, organisation_id: caller.organisationId }, 'an upload could not be stored');
        throw new Refusal('upload_failed', 'The file could not be stored. Send it again.', { retryAfterS: UPLOADS_RETRY_AFTER_S });
      }
    },
  };
}
