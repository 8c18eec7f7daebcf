/** What an uploaded file is, told from its bytes and never from its name (UPLOAD-2): a type that a model can read, and whole. */
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';
import { UPLOADS_RETRY_AFTER_S } from '../../protocol/limits.ts';
import type { UploadMediaType } from '../../protocol/runtime/uploads.ts';
import { examineUpload, imageTypeOf } from '../images/images.ts';

const ACCEPTED = 'PNG, JPEG, WebP, GIF, PDF or plain text';

function unsupported(what: string): Refusal {
  return new Refusal('unsupported_media_type', what);
}

/** What a text may have of the control characters: tab, line feed, form feed, carriage return, escape. */
const SPACING: readonly number[] = [0x09, 0x0a, 0x0c, 0x0d, 0x1b];
const DELETE = 0x7f;
/** Bytes that windows-1252 gives no character to. */
const UNASSIGNED: readonly number[] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
/** UTF-16 unit that stands for a character that could not be decoded. */
const REPLACEMENT_UNIT = 0xfffd;
/** UTF-16 units that are no reason to refuse; a NUL is dropped when the text is read. */
const HARMLESS_UNITS: readonly number[] = [0x00, 0x09, 0x0a, 0x0c, 0x0d];
/** Bytes checked at once, in some milliseconds; the event loop is free in between. */
const LOOKED_THROUGH_AT_ONCE_BYTES = 1024 * 1024;

function binaryBytes(more: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const isControl = (byte < 0x20 && !SPACING.includes(byte)) || byte === DELETE;
    return isControl || more.includes(byte) ? 1 : 0;
  });
}

const BINARY_IN_UTF8 = binaryBytes([]);
const BINARY_IN_ONE_BYTE_CHARSETS = binaryBytes(UNASSIGNED);

/** By unit below 0x100, 1: a control character of either set, but for the harmless ones. No pair of surrogates makes one. */
const BINARY_UNITS = Uint8Array.from({ length: 0x100 }, (_, unit) => {
  const isControl = unit < 0x20 || (unit >= DELETE && unit < 0xa0);
  return isControl && !HARMLESS_UNITS.includes(unit) ? 1 : 0;
});

/** Whether `holdsIn` finds it in any of the steps through `bytes`, each of an even length but the last. */
async function holdsAnywhere(bytes: Uint8Array, holdsIn: (from: number, end: number) => boolean): Promise<boolean> {
  for (let from = 0; from < bytes.length; from += LOOKED_THROUGH_AT_ONCE_BYTES) {
    if (from > 0) await setImmediate();
    if (holdsIn(from, Math.min(from + LOOKED_THROUGH_AT_ONCE_BYTES, bytes.length))) return true;
  }
  return false;
}

function holdsAny(bytes: Uint8Array, wanted: Uint8Array): Promise<boolean> {
  return holdsAnywhere(bytes, (from, end) => {
    for (let at = from; at < end; at++) if (wanted[bytes[at] as number] === 1) return true;
    return false;
  });
}

/** Checks UTF-16 with a byte order mark, unit by unit: decoding 20 MB at once would block the event loop for long. */
function holdsBinaryUnits(bytes: Uint8Array): Promise<boolean> {
  const [high, low] = bytes[0] === 0xfe ? [0, 1] : [1, 0];
  return holdsAnywhere(bytes, (from, end) => {
    for (let at = from; at < end; at += 2) {
      const unit = ((bytes[at + high] as number) << 8) | (bytes[at + low] as number);
      if (unit < BINARY_UNITS.length ? BINARY_UNITS[unit] === 1 : unit === REPLACEMENT_UNIT) return true;
    }
    return false;
  });
}

function isUtf16(bytes: Uint8Array): boolean {
  return bytes.length % 2 === 0 && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff));
}

/** Whether people could read the bytes: UTF-8, UTF-16 that says so, or a charset of one byte, without control characters. */
async function isText(bytes: Uint8Array): Promise<boolean> {
  if (isUtf16(bytes)) return !(await holdsBinaryUnits(bytes));
  return !(await holdsAny(bytes, isUtf8(bytes) ? BINARY_IN_UTF8 : BINARY_IN_ONE_BYTE_CHARSETS));
}

/** The media type. @throws Refusal 415 unsupported_media_type; 503 uploads_unavailable while too many images are decoded. */
export async function uploadType(bytes: Uint8Array, asker: string): Promise<UploadMediaType> {
  const { image, name } = await imageTypeOf(bytes);
  if (image !== undefined && image !== 'image/svg+xml') {
    await examineUpload(bytes, image, asker).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'rate_limited') throw new Refusal('uploads_unavailable', error.message, { retryAfterS: UPLOADS_RETRY_AFTER_S });
      throw unsupported(error.message);
    });
    return image;
  }
  if (name === 'of type pdf') return 'application/pdf';
  if (await isText(bytes)) return 'text/plain';
  throw unsupported(`An upload is a ${ACCEPTED} file; this one is ${name}.`);
}
