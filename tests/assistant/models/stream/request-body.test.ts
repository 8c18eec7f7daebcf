/** Pictures are written into the request while it is sent, and nothing else changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { completionBody } from '../../../../assistant/models/openai/chat-messages.ts';
import { PassingBody, type StreamedBody } from '../../../../assistant/models/stream/request-body.ts';
import { picture, request } from '../openai/recorded-sink.ts';

async function written(body: StreamedBody): Promise<{ text: string; longest: number }> {
  const pieces: Buffer[] = [];
  for await (const piece of body.stream()) pieces.push(piece);
  return { text: Buffer.concat(pieces).toString(), longest: Math.max(...pieces.map(({ length }) => length)) };
}

function streamed(parts: Parameters<typeof request>[0]): StreamedBody {
  const body = completionBody('m', request(parts));
  assert.ok(!(body instanceof PassingBody));
  return body;
}

test('MODEL-19: a picture is in the body as its base64, whatever pieces it comes in, and the length is known beforehand', async () => {
  const pictures = fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 50 })), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(pictures, fc.string({ unit: 'grapheme', maxLength: 20 }), async (given, content) => {
      const images = given.map(([bytes, pieceBytes]) => picture('image/png', bytes, pieceBytes));
      const body = streamed({ messages: [{ role: 'user', content, images }] });
      const { text } = await written(body);
      assert.equal(Buffer.byteLength(text), body.bytes);
      assert.equal(
        body.pictureBytes,
        given.reduce((sum, [bytes]) => sum + bytes.length, 0),
      );
      const [said, ...shown] = JSON.parse(text).messages.at(-1).content;
      assert.equal(said.text, content);
      assert.deepEqual(
        shown.map((part: { image_url: { url: string } }) => part.image_url.url),
        given.map(([bytes]) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`),
      );
    }),
  );
});

test('MODEL-19: no piece of the body is longer than the base64 of a piece of a picture, and a picture is read anew each time', async () => {
  let opened = 0;
  const image = picture('image/png', Buffer.alloc(1_000_000, 7), 30_000, () => {
    opened += 1;
  });
  const body = streamed({ messages: [{ role: 'user', content: 'What is it?', images: [image] }] });
  assert.equal(opened, 0);
  const first = await written(body);
  assert.ok(first.longest <= 40_004, `${first.longest} bytes`);
  assert.deepEqual(await written(body), first);
  assert.equal(opened, 2);
});
