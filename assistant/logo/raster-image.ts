/**
 * What a raster image is and measures, told from its bytes (LOGO-4, LOGO-5): type, whole structure, size.
 * Walks each format's own structure, so that a file that was cut off is not taken for an image, and drops what hangs
 * behind the image's end. Decodes no pixels.
 */

import { crc32 } from 'node:zlib';
import { imageSize } from 'image-size';
import { Refusal } from '../../protocol/errors.ts';

/** Side of the largest image that every phone's GPU takes as one texture. Decoded, such a square is 64 MB. */
export const SIDE_MAX_PX = 4_096;

export type RasterType = 'image/png' | 'image/jpeg' | 'image/webp';

export interface RasterImage {
  readonly mediaType: RasterType;
  /** As it is shown, in pixels: turned the way its EXIF orientation says. */
  readonly width: number;
  readonly height: number;
  /** From the first byte to the end of the image. */
  readonly bytes: Uint8Array;
}

const NAMES: Readonly<Record<RasterType, string>> = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/webp': 'WebP' };

const RASTER_TYPES: Readonly<Record<string, RasterType>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
};

/** Refuses sizes that a client would run out of memory over. @throws Refusal too_large. */
export function checkSize(width: number, height: number, sideMaxPx = SIDE_MAX_PX): void {
  if (width <= sideMaxPx && height <= sideMaxPx) return;
  throw new Refusal('too_large', `The image is ${width} x ${height} pixels. It may be ${sideMaxPx} x ${sideMaxPx} at most.`);
}

/** Chunks or segments of a file. An encoder that writes 4 KB at a time makes 512 of the largest logo. */
export const PARTS_MAX = 10_000;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fourCharacters(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).toString('latin1');
}

const PNG_SIGNATURE_BYTES = 8;
/** Length, name and checksum around a chunk's data. */
const PNG_CHUNK_FRAME_BYTES = 12;

interface Walked {
  /** Offset behind the image. */
  readonly end: number;
  /** What there is to measure, so short that measuring it takes no time. */
  readonly head: Uint8Array;
}

/** The size of a PNG or a WebP stands within these. */
const HEAD_BYTES = 64;

/** To IEND; undefined when the chunks do not lead there or one is damaged. */
function walkPng(bytes: Uint8Array): Walked | undefined {
  const view = viewOf(bytes);
  let holdsPixels = false;
  let at = PNG_SIGNATURE_BYTES;
  for (let parts = 0; parts < PARTS_MAX && at + PNG_CHUNK_FRAME_BYTES <= bytes.length; parts += 1) {
    const length = view.getUint32(at);
    const next = at + PNG_CHUNK_FRAME_BYTES + length;
    if (next > bytes.length) return undefined;
    const name = fourCharacters(bytes, at + 4);
    if ((name === 'IHDR') !== (at === PNG_SIGNATURE_BYTES)) return undefined;
    if (crc32(bytes.subarray(at + 4, next - 4)) !== view.getUint32(next - 4)) return undefined;
    if (name === 'IDAT') holdsPixels = true;
    if (name === 'IEND') return holdsPixels ? { end: next, head: bytes.subarray(0, HEAD_BYTES) } : undefined;
    at = next;
  }
  return undefined;
}

const JPEG = {
  mark: 0xff,
  endOfImage: 0xd9,
  startOfScan: 0xda,
  temporary: 0x01,
  restart0: 0xd0,
  startOfImage: 0xd8,
  application1: 0xe1,
  comment: 0xfe,
} as const;
/** Between the frame headers, 0xC0 to 0xCF, lie three tables. */
const JPEG_TABLES: readonly number[] = [0xc4, 0xc8, 0xcc];

function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !JPEG_TABLES.includes(marker);
}

function standsAlone(marker: number): boolean {
  return marker === JPEG.temporary || (marker >= JPEG.restart0 && marker <= JPEG.startOfImage);
}

/** The measuring library passes over the first segment without a look at its kind. */
const EMPTY_SEGMENT = Buffer.of(JPEG.mark, JPEG.comment, 0, 2);

/**
 * The image without what is not for measuring: its first EXIF, which tells the way up, and its frame header. In the whole of
 * it the measuring library skips over damage until it meets something like a frame header; a decoder may take another one.
 */
function jpegHead(exif: Uint8Array | undefined, frame: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(JPEG.mark, JPEG.startOfImage), exif ?? EMPTY_SEGMENT, frame]);
}

/** To the end of the image; undefined when it is not whole, or has not one frame header. */
function walkJpeg(bytes: Uint8Array): Walked | undefined {
  const view = viewOf(bytes);
  let frame: Uint8Array | undefined;
  let exif: Uint8Array | undefined;
  let at = 2;
  for (let parts = 0; parts < PARTS_MAX && at + 4 <= bytes.length; parts += 1) {
    const marker = bytes[at + 1] as number;
    if (bytes[at] !== JPEG.mark) return undefined;
    if (marker === JPEG.mark) {
      at += 1;
    } else if (standsAlone(marker)) {
      at += 2;
    } else if (marker === JPEG.startOfScan) {
      // Entropy-coded data escapes its 0xFF: the next end marker is the image's, not a thumbnail's.
      const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(Buffer.of(JPEG.mark, JPEG.endOfImage), at);
      return frame === undefined || end < 0 ? undefined : { end: end + 2, head: jpegHead(exif, frame) };
    } else {
      const next = at + 2 + view.getUint16(at + 2);
      const segment = bytes.subarray(at, next);
      if (isFrameHeader(marker)) {
        if (frame !== undefined) return undefined;
        frame = segment;
      } else if (marker === JPEG.application1 && next >= at + 10 && fourCharacters(bytes, at + 4) === 'Exif') {
        exif ??= segment;
      }
      at = next;
    }
  }
  return undefined;
}

const RIFF_HEADER_BYTES = 12;
const WEBP_PICTURES: readonly string[] = ['VP8 ', 'VP8L', 'ANMF'];

/** To the end of the RIFF container; undefined when it or a chunk of it is cut off, or no picture is inside. */
function walkWebp(bytes: Uint8Array): Walked | undefined {
  const view = viewOf(bytes);
  const end = view.getUint32(4, true) + 8;
  if (end > bytes.length) return undefined;
  let holdsPicture = false;
  let at = RIFF_HEADER_BYTES;
  for (let parts = 0; at < end; parts += 1) {
    if (parts === PARTS_MAX || at + 8 > end) return undefined;
    const length = view.getUint32(at + 4, true);
    if (at + 8 + length > end) return undefined;
    if (WEBP_PICTURES.includes(fourCharacters(bytes, at))) holdsPicture = true;
    // Chunks begin at even offsets.
    at += 8 + length + (length % 2);
  }
  return holdsPicture ? { end, head: bytes.subarray(0, HEAD_BYTES) } : undefined;
}

const WALK: Readonly<Record<RasterType, (bytes: Uint8Array) => Walked | undefined>> = {
  'image/png': walkPng,
  'image/jpeg': walkJpeg,
  'image/webp': walkWebp,
};

/** EXIF orientations from this one on lie on their side. */
const FIRST_SIDEWAYS_ORIENTATION = 5;

function measure(head: Uint8Array): { width: number; height: number } {
  const { width, height, orientation = 1 } = imageSize(head);
  return orientation >= FIRST_SIDEWAYS_ORIENTATION ? { width: height, height: width } : { width, height };
}

/** Long enough to tell a type, too short for a container with files in it, which the telling library would unpack. */
const SIGNATURE_BYTES = 32;

/** What the bytes are by their signature: a raster type that is taken, another type's name, or undefined for an unknown one. */
export async function sniff(bytes: Uint8Array): Promise<{ raster: RasterType | undefined; name: string } | undefined> {
  // Only now: most processes are shown no image for a long time, and it brings the readers of archives along.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes.subarray(0, SIGNATURE_BYTES)).catch(() => undefined);
  return found === undefined ? undefined : { raster: RASTER_TYPES[found.mime], name: found.ext };
}

/**
 * Examines an image of this type. @throws Refusal unsupported_type when it is cut off or damaged, too_large when it measures
 * more than whoever is to decode it can.
 */
export function examineRaster(bytes: Uint8Array, mediaType: RasterType, sideMaxPx = SIDE_MAX_PX): RasterImage {
  let whole: Uint8Array | undefined;
  let size: { width: number; height: number } | undefined;
  try {
    const walked = WALK[mediaType](bytes);
    if (walked !== undefined) {
      whole = bytes.subarray(0, walked.end);
      size = measure(walked.head);
    }
  } catch {
    // Offsets that lead outside of the file throw a RangeError, what cannot be measured a TypeError: both say damaged.
    size = undefined;
  }
  if (whole === undefined || size === undefined || !(size.width > 0 && size.height > 0)) {
    throw new Refusal('unsupported_type', `The ${NAMES[mediaType]} is cut off or damaged. Export it again.`);
  }
  checkSize(size.width, size.height, sideMaxPx);
  return { mediaType, ...size, bytes: whole };
}
