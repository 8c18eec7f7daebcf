/** What the service and a reader say to each other arrives whole, however it is cut on its way, or not at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader, frameStart } from '../../../assistant/parsers/frames.ts';

test('KNOWLEDGE-15: a frame arrives as it was sent, in whatever pieces', () => {
  const frame = fc.tuple(fc.dictionary(fc.string(), fc.string()), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(
      fc.array(frame, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (sent, cuts) => {
        const reader = new FrameReader(100_000);
        for (const [head, body] of sent) {
          const bytes = Buffer.concat([frameStart(head, body.length), body]);
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const to = Math.min(at + (cuts[turn % cuts.length] as number), bytes.length);
            const found = reader.push(Buffer.from(bytes.subarray(at, to)));
            assert.equal(found === undefined, to < bytes.length);
            if (found !== undefined)
              assert.deepEqual([{ ...(found.head as object) }, Buffer.from(found.body)], [{ ...head }, Buffer.from(body)]);
            at = to;
          }
        }
      },
    ),
  );
});

test('KNOWLEDGE-15: what is larger than a frame may be, longer than it says, or no frame is refused before it is kept', () => {
  assert.throws(() => new FrameReader(1_000).push(Buffer.alloc(8, 0xff)), /no frame, or larger/);
  assert.throws(() => new FrameReader(10).push(frameStart({}, 1)), /no frame, or larger/);
  assert.throws(() => new FrameReader(100).push(Buffer.concat([frameStart({}, 1), Buffer.alloc(2)])), /no frame, or larger/);
  assert.throws(() => new FrameReader(100).push(Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0x7b])), SyntaxError);
});
