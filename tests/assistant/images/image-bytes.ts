/** Small images of every type: as an encoder makes them, and changed byte by byte. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Of larger ones only the header says how large they are. */
const PIXELS_MAX_BYTES = 32 * 1024 * 1024;

/** A black PNG, with more chunks before its pixels. */
export function png(width = 3, height = 2, more: readonly Buffer[] = []): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])]);
  const pixels = deflateSync(Buffer.alloc(Math.min(PIXELS_MAX_BYTES, (width + 1) * height)));
  return Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', header), ...more, pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))]);
}

export function jpegSegment(marker: number, data: Buffer): Buffer {
  const length = data.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), data]);
}

/** EXIF that says which way up the picture is, and holds the end marker of a thumbnail. */
export function exif(orientation: number): Buffer {
  const entry = Buffer.from([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
  return jpegSegment(
    0xe1,
    Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01', 'latin1'), entry, Buffer.from([0, 0, 0, 0, 0xff, 0xd8, 0xff, 0xd9, 0, 0])]),
  );
}

/** A whole picture of one colour, as people's programs export one. */
export function picture(type: 'jpeg' | 'webp' | 'gif', width = 3, height = 2): Promise<Buffer> {
  const image = sharp({ create: { width, height, channels: 3, background: '#336699' } });
  return image.toFormat(type, type === 'webp' ? { lossless: true } : {}).toBuffer();
}

const [JPEG, WEBP, GIF] = await Promise.all([picture('jpeg'), picture('webp'), picture('gif')]);

/** A JPEG, with more segments at its start. Of another size than 3 x 2 only its frame header is. */
export function jpeg(width = 3, height = 2, more: readonly Buffer[] = []): Buffer {
  const bytes = Buffer.concat([JPEG.subarray(0, 2), ...more, JPEG.subarray(2)]);
  const frame = bytes.lastIndexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

/** A lossless WebP. Of another size than 3 x 2 only its header is. */
export function webp(width = 3, height = 2): Buffer {
  const bytes = Buffer.from(WEBP);
  bytes.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21);
  return bytes;
}

export const gif = (): Buffer => Buffer.from(GIF);

/** A ZIP of one file, as far as a reader that knows no table of contents goes. */
export function zip(name: string, content: string): Buffer {
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt32LE(content.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, Buffer.from(name + content), Buffer.from('PK\x01\x02', 'latin1'), Buffer.alloc(42)]);
}

/** An SVG with this inside; xlink is declared. */
export function svg(inside: string, attributes = 'viewBox="0 0 24 12"'): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`;
}

/** Whole, of one colour and 16,383 pixels a side: 1 GB when it is decoded. */
export const WEBP_BOMB = Buffer.from('524946461e000000574542505650384c110000002ffebfff0f0750b3ce34b3ff8188e87f0000', 'hex');
