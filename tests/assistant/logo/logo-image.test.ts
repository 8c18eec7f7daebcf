import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { examineLogo as examine, type LogoImage } from '../../../assistant/logo/logo-image.ts';
import { PARTS_MAX, SIDE_MAX_PX } from '../../../assistant/logo/raster-image.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { exif, gif, jpeg, jpegFrame, jpegSegment, manyPartWebp, png, pngChunk, svg, webp, zip } from './image-bytes.ts';

const examineLogo = (bytes: Uint8Array) => examine(bytes, 'org_1');

async function refusalOf(bytes: Uint8Array): Promise<Refusal> {
  try {
    await examineLogo(bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'the image was taken' });
}

const shape = ({ mediaType, width, height }: LogoImage) => [mediaType, width, height];

test('LOGO-2: PNG, JPEG, WebP and SVG are taken for what they are, with their size', async () => {
  assert.deepEqual(shape(await examineLogo(png(300, 200))), ['image/png', 300, 200]);
  assert.deepEqual(shape(await examineLogo(jpeg(300, 200))), ['image/jpeg', 300, 200]);
  assert.deepEqual(shape(await examineLogo(webp(300, 200))), ['image/webp', 300, 200]);
  assert.deepEqual(shape(await examineLogo(Buffer.from(svg('<rect width="9" height="9"/>')))), ['image/svg+xml', 24, 12]);
});

test('LOGO-2: an SVG may come with a byte order mark, an XML declaration, a comment and the standard’s DOCTYPE', async () => {
  const before = `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- Made by hand -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n`;
  const { bytes } = await examineLogo(Buffer.from(before + svg('<rect/>')));
  assert.equal(Buffer.from(bytes).toString(), svg('<rect/>'));
});

test('LOGO-2: an animated PNG is a PNG', async () => {
  const control = pngChunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]));
  assert.equal((await examineLogo(png(3, 2, [control]))).mediaType, 'image/png');
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
  ] as const) {
    const { code, status, message } = await refusalOf(bytes);
    assert.deepEqual([code, status], ['unsupported_type', 415]);
    assert.match(message, name);
  }
});

test('LOGO-4: a file that ends early is refused wherever it was cut', async () => {
  for (const whole of [png(), jpeg(3, 2, [exif(1)]), webp()]) {
    // Shorter ones are not told to be images at all, which the test of other types covers.
    for (let length = 1; length < whole.length; length++) {
      assert.equal((await refusalOf(whole.subarray(0, length))).code, 'unsupported_type', `${length} of ${whole.length} bytes`);
    }
  }
});

test('LOGO-4: what hangs behind the image is not kept', async () => {
  for (const whole of [png(), jpeg(), webp()]) {
    const { bytes } = await examineLogo(Buffer.concat([whole, Buffer.from('<script>PK\x03\x04')]));
    assert.deepEqual(Buffer.from(bytes), whole);
  }
});

test('LOGO-4: damaged structure is refused: a wrong checksum, no pixels, two frames, a header that is not the first', async () => {
  const flipped = png();
  flipped[20] = (flipped[20] ?? 0) ^ 1;
  const unpictured = Buffer.concat([png().subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))]);
  const late = Buffer.concat([png().subarray(0, 8), pngChunk('tEXt', Buffer.from('a\0b')), png().subarray(8)]);
  for (const bytes of [flipped, unpictured, late, jpeg(3, 2, [jpegFrame(9, 9)])]) {
    assert.equal((await refusalOf(bytes)).code, 'unsupported_type');
  }
});

test('LOGO-5: a JPEG whose frame header decoders read otherwise than we measure is refused', async () => {
  // Extended sequential, differential: decoders read it, the measuring library goes on to the next frame.
  const hidden = jpeg(3, 2).toString('latin1').replace('\xff\xc0', '\xff\xc9');
  assert.equal((await refusalOf(Buffer.from(hidden, 'latin1'))).code, 'unsupported_type');
});

test('LOGO-3: an image of more pixels than clients can decode is 413 too_large, however short the file', async () => {
  const side = SIDE_MAX_PX + 1;
  for (const bytes of [png(side, 1), png(1, side), png(2 ** 31 - 1, 2 ** 31 - 1), jpeg(side, 2), webp(side, 2)]) {
    const { code, status } = await refusalOf(bytes);
    assert.deepEqual([code, status], ['too_large', 413]);
  }
  assert.deepEqual(shape(await examineLogo(png(SIDE_MAX_PX, SIDE_MAX_PX))), ['image/png', SIDE_MAX_PX, SIDE_MAX_PX]);
  const { code } = await refusalOf(Buffer.from(svg('<rect/>', `viewBox="0 0 ${side} 10"`)));
  assert.equal(code, 'too_large');
});

test('LOGO-2: the type is told by the first bytes alone: what is packed inside a file stays packed', async () => {
  // Would be told to be a Word document if it were unpacked.
  const packed = zip(
    '[Content_Types].xml',
    '<Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>',
  );
  assert.match((await refusalOf(packed)).message, /none of these/);
});

test('LOGO-4: an image of more chunks or segments than an encoder makes is refused', async () => {
  const parts = (part: Buffer, count: number) => Array<Buffer>(count).fill(part);
  const text = pngChunk('tEXt', Buffer.alloc(0));
  const comment = jpegSegment(0xfe, Buffer.alloc(0));
  for (const bytes of [png(3, 2, parts(text, PARTS_MAX)), jpeg(3, 2, parts(comment, PARTS_MAX)), manyPartWebp(PARTS_MAX)]) {
    assert.equal((await refusalOf(bytes)).code, 'unsupported_type');
  }
  for (const bytes of [png(3, 2, parts(text, 1_000)), jpeg(3, 2, parts(comment, 1_000)), manyPartWebp(1_000)]) {
    assert.deepEqual(shape(await examineLogo(bytes)).slice(1), [3, 2]);
  }
});

test('LOGO-5: a JPEG is measured by the frame header that its segments lead to, whatever lies before it', async () => {
  const fill = Buffer.alloc(3, 0xff);
  // Looks like a frame header to a reader that has lost its step.
  const decoy = jpegSegment(0xfe, Buffer.concat([Buffer.alloc(5), jpegFrame(9, 9)]));
  assert.deepEqual(shape(await examineLogo(jpeg(300, 200, [fill, decoy, exif(6)]))), ['image/jpeg', 200, 300]);
});

test('LOGO-4: an image of no pixels is refused', async () => {
  for (const bytes of [png(0, 5), png(5, 0), jpeg(0, 5)]) assert.equal((await refusalOf(bytes)).code, 'unsupported_type');
});

test('LOGO-5: a JPEG that lies on its side measures as it is shown', async () => {
  assert.deepEqual(shape(await examineLogo(jpeg(300, 200, [exif(6)]))), ['image/jpeg', 200, 300]);
  assert.deepEqual(shape(await examineLogo(jpeg(300, 200, [exif(3)]))), ['image/jpeg', 300, 200]);
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
      return width > 0 && height > 0 && width <= SIDE_MAX_PX && height <= SIDE_MAX_PX;
    }),
    { numRuns: 400 },
  );
});
