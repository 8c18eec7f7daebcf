/** Small images of every type, made byte by byte. */
import { crc32, deflateSync } from 'node:zlib';

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

/** A grey PNG. Only the header says how large it is: `pixels` are those that are really there. */
export function png(width = 3, height = 2, more: readonly Buffer[] = []): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])]);
  const pixels = deflateSync(Buffer.alloc(64));
  return Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', header), ...more, pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))]);
}

export function jpegSegment(marker: number, data: Buffer): Buffer {
  const length = data.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), data]);
}

export function jpegFrame(width: number, height: number, marker = 0xc0): Buffer {
  return jpegSegment(marker, Buffer.from([8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0]));
}

const JFIF = jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'));

/** EXIF that says which way up the picture is, and holds the end marker of a thumbnail. */
export function exif(orientation: number): Buffer {
  const entry = Buffer.from([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
  return jpegSegment(
    0xe1,
    Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01', 'latin1'), entry, Buffer.from([0, 0, 0, 0, 0xff, 0xd8, 0xff, 0xd9, 0, 0])]),
  );
}

export function jpeg(width = 3, height = 2, more: readonly Buffer[] = []): Buffer {
  const scan = Buffer.concat([
    jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56]),
  ]);
  const start = Buffer.from([0xff, 0xd8]);
  return Buffer.concat([start, JFIF, ...more, jpegFrame(width, height), scan, Buffer.from([0xff, 0xd9])]);
}

/** A lossless WebP. */
export function webp(width = 3, height = 2): Buffer {
  const bits = (width - 1) | ((height - 1) << 14);
  const data = Buffer.alloc(10);
  data[0] = 0x2f;
  data.writeUInt32LE(bits >>> 0, 1);
  const chunk = Buffer.concat([Buffer.from('VP8L'), Buffer.from([data.length, 0, 0, 0]), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(4 + chunk.length);
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from('WEBP'), chunk]);
}

/** A WebP with this many empty chunks behind its picture. */
export function manyPartWebp(count: number): Buffer {
  const bytes = Buffer.concat([webp(), Buffer.from('none\0\0\0\0'.repeat(count), 'latin1')]);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
}

/** A ZIP of one file, as far as a reader that knows no table of contents goes. */
export function zip(name: string, content: string): Buffer {
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt32LE(content.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, Buffer.from(name + content), Buffer.from('PK\x01\x02', 'latin1'), Buffer.alloc(42)]);
}

export function gif(): Buffer {
  return Buffer.from('GIF89a\x03\0\x02\0\0\0\0,\0\0\0\0\x03\0\x02\0\0\x02\x02D\x01\0;', 'latin1');
}

/** An SVG with this inside; xlink is declared. */
export function svg(inside: string, attributes = 'viewBox="0 0 24 12"'): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`;
}
