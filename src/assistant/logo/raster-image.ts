/**
 * What a raster image is and measures, told from its bytes (service.md "POST /logo rules"): type, whole structure, size.
 * Walks each format's own structure, so that a file that was cut off is not taken for an image, and drops what hangs
 * behind the image's end. Decodes no pixels.
 */

import { crc32 } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { imageSize } from 'image-size';
import { Refusal } from '../../protocol/errors.ts';

/** Side of the largest image that every phone's GPU takes as one texture. */
export const SIDE_MAX_PX = 4_096;
/** Decoded at four bytes a pixel these are 64 MB, which is already much for a logo. */
export const PIXELS_MAX = SIDE_MAX_PX * SIDE_MAX_PX;

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
  // Shows its first picture where animation is not known.
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
};

/** Refuses sizes that a client would run out of memory over. @throws Refusal too_large. */
export function checkSize(width: number, height: number): void {
  if (width <= SIDE_MAX_PX && height <= SIDE_MAX_PX && width * height <= PIXELS_MAX) return;
  throw new Refusal('too_large', `The image is ${width} x ${height} pixels. It may be ${SIDE_MAX_PX} x ${SIDE_MAX_PX} at most.`);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fourCharacters(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).toString('latin1');
}

const PNG_SIGNATURE_BYTES = 8;
/** Length, name and checksum around a chunk's data. */
const PNG_CHUNK_FRAME_BYTES = 12;

/** Offset behind IEND; undefined when the chunks do not lead there or one is damaged. */
function endOfPng(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  let holdsPixels = false;
  for (let at = PNG_SIGNATURE_BYTES; at + PNG_CHUNK_FRAME_BYTES <= bytes.length; ) {
    const length = view.getUint32(at);
    const next = at + PNG_CHUNK_FRAME_BYTES + length;
    if (next > bytes.length) return undefined;
    const name = fourCharacters(bytes, at + 4);
    if ((name === 'IHDR') !== (at === PNG_SIGNATURE_BYTES)) return undefined;
    if (crc32(bytes.subarray(at + 4, next - 4)) !== view.getUint32(next - 4)) return undefined;
    if (name === 'IDAT') holdsPixels = true;
    if (name === 'IEND') return holdsPixels ? next : undefined;
    at = next;
  }
  return undefined;
}

const JPEG = { mark: 0xff, endOfImage: 0xd9, startOfScan: 0xda, temporary: 0x01, restart0: 0xd0, startOfImage: 0xd8 } as const;
/** Between the frame headers, 0xC0 to 0xCF, lie three tables. */
const JPEG_TABLES: readonly number[] = [0xc4, 0xc8, 0xcc];

function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !JPEG_TABLES.includes(marker);
}

function standsAlone(marker: number): boolean {
  return marker === JPEG.temporary || (marker >= JPEG.restart0 && marker <= JPEG.startOfImage);
}

/** Offset behind the end of the image, and where its one frame header lies; undefined when it is not whole. */
function walkJpeg(bytes: Uint8Array): { end: number; frameAt: number } | undefined {
  const view = viewOf(bytes);
  let frameAt: number | undefined;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] as number;
    if (bytes[at] !== JPEG.mark) return undefined;
    if (marker === JPEG.mark) {
      at += 1;
    } else if (standsAlone(marker)) {
      at += 2;
    } else if (marker === JPEG.startOfScan) {
      // Entropy-coded data escapes its 0xFF: the next end marker is the image's, not a thumbnail's.
      const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(Buffer.of(JPEG.mark, JPEG.endOfImage), at);
      return frameAt === undefined || end < 0 ? undefined : { end: end + 2, frameAt };
    } else {
      if (isFrameHeader(marker)) {
        if (frameAt !== undefined || at + 9 > bytes.length) return undefined;
        frameAt = at;
      }
      at += 2 + view.getUint16(at + 2);
    }
  }
  return undefined;
}

function endOfJpeg(bytes: Uint8Array): number | undefined {
  const walked = walkJpeg(bytes);
  if (walked === undefined) return undefined;
  const view = viewOf(bytes);
  const { width, height } = imageSize(bytes);
  // The measuring library skips over damage until it meets something like a frame header; a decoder may take another one.
  const agrees = view.getUint16(walked.frameAt + 5) === height && view.getUint16(walked.frameAt + 7) === width;
  return agrees ? walked.end : undefined;
}

const RIFF_HEADER_BYTES = 12;
const WEBP_PICTURES: readonly string[] = ['VP8 ', 'VP8L', 'ANMF'];

/** Offset behind the RIFF container; undefined when it or a chunk of it is cut off, or no picture is inside. */
function endOfWebp(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  const end = view.getUint32(4, true) + 8;
  if (end > bytes.length) return undefined;
  let holdsPicture = false;
  for (let at = RIFF_HEADER_BYTES; at < end; ) {
    if (at + 8 > end) return undefined;
    const length = view.getUint32(at + 4, true);
    if (at + 8 + length > end) return undefined;
    if (WEBP_PICTURES.includes(fourCharacters(bytes, at))) holdsPicture = true;
    // Chunks begin at even offsets.
    at += 8 + length + (length % 2);
  }
  return holdsPicture ? end : undefined;
}

const END_OF: Readonly<Record<RasterType, (bytes: Uint8Array) => number | undefined>> = {
  'image/png': endOfPng,
  'image/jpeg': endOfJpeg,
  'image/webp': endOfWebp,
};

/** EXIF orientations from this one on lie on their side. */
const FIRST_SIDEWAYS_ORIENTATION = 5;

function measure(whole: Uint8Array): { width: number; height: number } {
  const { width, height, orientation = 1 } = imageSize(whole);
  return orientation >= FIRST_SIDEWAYS_ORIENTATION ? { width: height, height: width } : { width, height };
}

/** What the bytes are by their signature: a raster type that is taken, another type's name, or undefined for an unknown one. */
export async function sniff(bytes: Uint8Array): Promise<{ raster: RasterType | undefined; name: string } | undefined> {
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  return found === undefined ? undefined : { raster: RASTER_TYPES[found.mime], name: found.ext };
}

/**
 * Examines an image of this type. @throws Refusal unsupported_type when it is cut off or damaged, too_large when it measures
 * more than a client can decode.
 */
export function examineRaster(bytes: Uint8Array, mediaType: RasterType): RasterImage {
  let whole: Uint8Array | undefined;
  let size: { width: number; height: number } | undefined;
  try {
    const end = END_OF[mediaType](bytes);
    if (end !== undefined) {
      whole = bytes.subarray(0, end);
      size = measure(whole);
    }
  } catch {
    // Offsets that lead outside of the file throw a RangeError, what cannot be measured a TypeError: both say damaged.
    size = undefined;
  }
  if (whole === undefined || size === undefined || !(size.width > 0 && size.height > 0)) {
    throw new Refusal('unsupported_type', `The ${NAMES[mediaType]} is cut off or damaged. Export it again.`);
  }
  checkSize(size.width, size.height);
  return { mediaType, ...size, bytes: whole };
}
