import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpackedLength } from '../../../program/replica/lz4-length.ts';

/** A frame whose blocks have these bytes; `flags` beside the version. */
function frame(blocks: readonly Buffer[], flags = 0, header = Buffer.alloc(0), sizeBit = 0): Buffer {
  const words = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes;
  };
  const parts = blocks.flatMap((block) => [words((block.length | sizeBit) >>> 0), block, Buffer.alloc(flags & 0x10 ? 4 : 0)]);
  const checksum = Buffer.alloc(flags & 0x04 ? 4 : 0);
  return Buffer.concat([words(0x184d2204), Buffer.from([0x40 | flags, 0x70]), header, Buffer.from([0]), ...parts, words(0), checksum]);
}

/** Nine literals, then 4 + 15 + 255 + 6 bytes from before, then three literals. */
const BLOCK = Buffer.concat([
  Buffer.from([0x9f]),
  Buffer.alloc(9),
  Buffer.from([1, 0]),
  Buffer.from([255, 6]),
  Buffer.from([0x30]),
  Buffer.alloc(3),
]);
/** 15 + 20 literals. */
const LITERALS = Buffer.concat([Buffer.from([0xf0, 20]), Buffer.alloc(35)]);

test('REPLICA-2: what a segment holds is counted without unpacking it', () => {
  assert.equal(unpackedLength(frame([BLOCK])), 9 + 280 + 3);
  assert.equal(unpackedLength(frame([LITERALS, BLOCK])), 35 + 292);
  assert.equal(unpackedLength(frame([Buffer.alloc(77)], 0, Buffer.alloc(0), 0x80000000)), 77);
  assert.equal(unpackedLength(frame([BLOCK], 0x10 | 0x08 | 0x04 | 0x01, Buffer.alloc(12))), 292);
  assert.equal(unpackedLength(Buffer.concat([frame([BLOCK]), frame([LITERALS])])), 292 + 35);
});

test('REPLICA-2: a segment that was cut off, or is none, is refused', () => {
  const whole = frame([LITERALS, BLOCK], 0x14);
  for (let length = 1; length < whole.length - 4; length += 1) assert.throws(() => unpackedLength(whole.subarray(0, length)), RangeError);
  assert.throws(() => unpackedLength(Buffer.from('no such file at all')), RangeError);
});
