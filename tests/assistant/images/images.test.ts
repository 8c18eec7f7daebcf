import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import sharp from 'sharp';
import { examineLogo as examine, LOGO_SIDE_MAX_PX, type LogoImage } from '../../../assistant/images/images.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { exif, gif, jpeg, jpegSegment, picture, png, pngChunk, svg, WEBP_BOMB, webp, zip } from './image-bytes.ts';

const examineLogo = (bytes: Uint8Array) => examine(bytes, 'org_1');

async function refusalOf(bytes: Uint8Array): Promise<Refusal> {
  const outcome = await examineLogo(bytes).catch((error: unknown) => error);
  if (outcome instanceof Refusal) return outcome;
  throw new assert.AssertionError({ message: `not refused: ${String(outcome)}` });
}

const shape = ({ mediaType, width, height }: LogoImage) => [mediaType, width, height];

test('LOGO-2: PNG, JPEG, WebP and SVG are taken for what they are, with their size; a vector image becomes a PNG', async () => {
  assert.deepEqual(shape(await examineLogo(png(300, 200))), ['image/png', 300, 200]);
  assert.deepEqual(shape(await examineLogo(await picture('jpeg', 300, 200))), ['image/jpeg', 300, 200]);
  assert.deepEqual(shape(await examineLogo(await picture('webp', 300, 200))), ['image/webp', 300, 200]);
  assert.deepEqual(shape(await examineLogo(Buffer.from(svg('<rect width="9" height="9"/>')))), ['image/png', 1_024, 512]);
  const control = pngChunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]));
  assert.equal((await examineLogo(png(3, 2, [control]))).mediaType, 'image/png', 'an animated PNG is a PNG');
  const clear = await sharp({ create: { width: 1, height: 1, channels: 4, background: '#0000' } })
    .png()
    .toBuffer();
  assert.deepEqual(shape(await examineLogo(clear)), ['image/png', 1, 1], 'a picture may be transparent');
});

test('LOGO-2: another type is 415 unsupported_type and is told by name', async () => {
  for (const [bytes, name] of [
    [gif(), /of type gif/],
    [Buffer.from('%PDF-1.7\n%âãÏÓ\n'), /of type pdf/],
    [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), /of type gz/],
    [Buffer.from('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0', 'latin1'), /of type bmp/],
    [Buffer.from('logo.png'), /none of these/],
    [Buffer.from('<!doctype html><html><body>no</body></html>'), /none of these/],
    [Buffer.from('<?xml version="1.0"?><rss/>'), /of type xml/],
    [Buffer.from([0]), /none of these/],
    // Would be told to be a Word document if it were unpacked.
    [
      zip(
        '[Content_Types].xml',
        '<Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>',
      ),
      /none/,
    ],
  ] as const) {
    const { code, status, message } = await refusalOf(bytes);
    assert.deepEqual([code, status], ['unsupported_type', 415]);
    assert.match(message, name);
  }
});

test('LOGO-4: a file that ends before its pixels do is refused wherever it was cut', async () => {
  const PNG_END_BYTES = pngChunk('IEND', Buffer.alloc(0)).length;
  for (const [whole, forgiven] of [
    [png(), PNG_END_BYTES],
    [jpeg(3, 2, [exif(1)]), 0],
    [webp(), 0],
  ] as const) {
    for (let length = 1; length < whole.length - forgiven; length += length < 40 ? 1 : 7) {
      assert.equal((await refusalOf(whole.subarray(0, length))).code, 'unsupported_type', `${length} of ${whole.length} bytes`);
    }
  }
});

test('LOGO-4: nothing is kept of a file but its picture: no tail, no words, no place where it was taken', async () => {
  const secret = 'SECRET<script>';
  const words = [pngChunk('tEXt', Buffer.from(`Comment\0${secret}`))];
  const comment = [exif(1), jpegSegment(0xfe, Buffer.from(secret))];
  for (const whole of [png(3, 2, words), jpeg(3, 2, comment), webp()]) {
    const { bytes } = await examineLogo(Buffer.concat([whole, Buffer.from(secret)]));
    assert.ok(bytes.length > 0 && !Buffer.from(bytes).includes('SECRET') && !Buffer.from(bytes).includes('Exif'));
  }
});

test('LOGO-4: what is damaged or has no pixels is refused', async () => {
  const flipped = png();
  flipped[23] = (flipped[23] ?? 0) ^ 1;
  const unpictured = Buffer.concat([png().subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))]);
  const late = Buffer.concat([png().subarray(0, 8), pngChunk('tEXt', Buffer.from('a\0b')), png().subarray(8)]);
  for (const bytes of [flipped, unpictured, late, png(0, 5), png(5, 0), jpeg(0, 5)]) {
    assert.equal((await refusalOf(bytes)).code, 'unsupported_type');
  }
});

test('LOGO-3: an image of more pixels than clients can decode is 413 too_large, however short the file', async () => {
  const side = LOGO_SIDE_MAX_PX + 1;
  for (const bytes of [png(side, 1), png(1, side), png(30_000, 30_000), jpeg(side, 2), webp(side, 2), WEBP_BOMB]) {
    const { code, status } = await refusalOf(bytes);
    assert.deepEqual([code, status], ['too_large', 413]);
  }
  assert.deepEqual(shape(await examineLogo(png(LOGO_SIDE_MAX_PX, LOGO_SIDE_MAX_PX))), ['image/png', LOGO_SIDE_MAX_PX, LOGO_SIDE_MAX_PX]);
});

test('LOGO-5: a JPEG that lies on its side measures, and is kept, as it is shown', async () => {
  const whole = await picture('jpeg', 300, 200);
  const turned = (orientation: number) => Buffer.concat([whole.subarray(0, 2), exif(orientation), whole.subarray(2)]);
  assert.deepEqual(shape(await examineLogo(turned(6))), ['image/jpeg', 200, 300]);
  assert.deepEqual(shape(await examineLogo(turned(3))), ['image/jpeg', 300, 200]);
});

test('LOGO-4: whatever the bytes, the answer is an image or a refusal', async () => {
  const start = fc.constantFrom(png(), jpeg(3, 2, [exif(6)]), webp(), gif(), Buffer.alloc(0));
  const changes = fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(start, changes, fc.uint8Array({ maxLength: 40 }), async (image, edits, tail) => {
      const bytes = Buffer.concat([image, tail]);
      for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
      const outcome = await examineLogo(bytes).catch((error: unknown) => error);
      if (outcome instanceof Refusal) return ['unsupported_type', 'too_large'].includes(outcome.code);
      const { width, height } = outcome as LogoImage;
      return width > 0 && height > 0 && width <= LOGO_SIDE_MAX_PX && height <= LOGO_SIDE_MAX_PX;
    }),
    { numRuns: 400 },
  );
});
