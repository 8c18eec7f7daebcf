/** The structure of a GIF: whether its blocks lead from one picture at least to its end, and what it measures. Decodes no pixels. */

const HEADER = /^GIF8[79]a$/;
const SCREEN_BYTES = 13;
const DESCRIPTOR_BYTES = 10;
const MARK = { extension: 0x21, picture: 0x2c, end: 0x3b } as const;
/** Bit of the flags byte: a colour table follows, of 2 to 256 colours of 3 bytes. */
const HAS_COLOURS = 0x80;
const COLOURS = 0x07;

function colourBytes(flags: number): number {
  return (flags & HAS_COLOURS) === 0 ? 0 : 3 * 2 ** ((flags & COLOURS) + 1);
}

/** Behind the data blocks at `at`; undefined when they are cut off. */
function behindBlocks(bytes: Uint8Array, at: number): number | undefined {
  for (let next = at; next < bytes.length; ) {
    const length = bytes[next] as number;
    next += 1 + length;
    if (length === 0) return next;
  }
  return undefined;
}

/** Where the block at `at` ends; undefined when it is none, or cut off. */
function behindBlock(bytes: Uint8Array, at: number): number | undefined {
  if (bytes[at] === MARK.extension) return behindBlocks(bytes, at + 2);
  if (bytes[at] !== MARK.picture || at + DESCRIPTOR_BYTES > bytes.length) return undefined;
  // One byte, the size of the first code, stands before the data.
  return behindBlocks(bytes, at + DESCRIPTOR_BYTES + colourBytes(bytes[at + DESCRIPTOR_BYTES - 1] as number) + 1);
}

/**
 * The size in pixels of a whole GIF; undefined when it is cut off, damaged or without a picture. A missing end mark is
 * forgiven, as every decoder does, when the last block is whole.
 */
export function gifSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  if (bytes.length < SCREEN_BYTES || !HEADER.test(Buffer.from(bytes.subarray(0, 6)).toString('latin1'))) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  let pictures = 0;
  let at = SCREEN_BYTES + colourBytes(bytes[10] as number);
  while (at < bytes.length && bytes[at] !== MARK.end) {
    if (bytes[at] === MARK.picture) pictures += 1;
    const next = behindBlock(bytes, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return pictures > 0 && width > 0 && height > 0 && at <= bytes.length ? { width, height } : undefined;
}
