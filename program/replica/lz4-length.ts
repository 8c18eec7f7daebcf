/**
 * How many bytes a file packed with LZ4 holds, from its frames: lengths are added up and nothing is unpacked, for which there is no library.
 * The format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md beside it.
 */

const MAGIC = 0x184d2204;
const BLOCK_CHECKSUM = 0x10;
const CONTENT_SIZE = 0x08;
const CONTENT_CHECKSUM = 0x04;
const DICTIONARY = 0x01;
const UNPACKED_BIT = 0x80000000;
/** A length of four bits that says that more bytes follow. */
const GOES_ON = 15;
const MATCH_MIN = 4;

/** The unpacked length of one block. @throws RangeError when it ends in the middle. */
function blockLength(block: Buffer): number {
  let at = 0;
  let length = 0;
  const more = (nibble: number): number => {
    let sum = nibble;
    for (let byte = nibble === GOES_ON ? 255 : 0; byte === 255; ) {
      byte = block.readUInt8(at);
      at += 1;
      sum += byte;
    }
    return sum;
  };
  while (at < block.length) {
    const token = block.readUInt8(at);
    at += 1;
    const literals = more(token >> 4);
    at += literals;
    length += literals;
    // The last sequence of a block has literals only.
    if (at >= block.length) break;
    at += 2;
    length += MATCH_MIN + more(token & GOES_ON);
  }
  if (at > block.length) throw new RangeError('a block ends in the middle');
  return length;
}

/** Bytes that `packed`, one frame or several, holds. @throws RangeError when it is cut off or is no such file. */
export function unpackedLength(packed: Buffer): number {
  let at = 0;
  let length = 0;
  while (at < packed.length) {
    if (packed.readUInt32LE(at) !== MAGIC) throw new RangeError('no LZ4 frame begins here');
    const flags = packed.readUInt8(at + 4);
    at += 7 + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICTIONARY ? 4 : 0);
    for (let head = packed.readUInt32LE(at); head !== 0; head = packed.readUInt32LE(at)) {
      const isPacked = head < UNPACKED_BIT;
      const size = isPacked ? head : head - UNPACKED_BIT;
      at += 4;
      if (at + size > packed.length) throw new RangeError('a block is cut off');
      length += isPacked ? blockLength(packed.subarray(at, at + size)) : size;
      at += size + (flags & BLOCK_CHECKSUM ? 4 : 0);
    }
    at += 4 + (flags & CONTENT_CHECKSUM ? 4 : 0);
  }
  return length;
}
