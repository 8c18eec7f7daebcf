import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Frame, FrameDecoder } from '../../../web/client/frames.ts';
import { framesOf, turns } from './sample-turns.ts';

/** Bytes cut at these places (taken modulo their number). */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function decoded(pieces: readonly Uint8Array[], maxChars?: number): { readonly frames: Frame[]; readonly isWhole: boolean } {
  const frames: Frame[] = [];
  const decoder = new FrameDecoder((frame) => frames.push(frame), maxChars);
  const went = pieces.map((piece) => decoder.push(piece));
  return { frames, isWhole: went.at(-1) ?? true };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const places = fc.array(fc.nat(100_000), { maxLength: 40 });

describe('CLIENT-1: frames of a stream', () => {
  test('any split of any stream decodes the same, with LF and with CRLF', () => {
    const property = fc.property(turns, places, fc.boolean(), fc.boolean(), (told, cuts, isCrlf, hasMark) => {
      const text = framesOf(told);
      const bytes = bytesOf((hasMark ? '\ufeff' : '') + (isCrlf ? text.replaceAll('\n', '\r\n') : text));
      const { frames, isWhole } = decoded(cut(bytes, cuts));
      assert.ok(isWhole);
      assert.deepEqual(
        frames.map(({ id, event }) => `${id} ${event}`),
        told.map(({ seq, event }) => `${seq} ${event.type}`),
      );
      assert.deepEqual(
        frames.map(({ data }) => JSON.parse(data)),
        told.map(({ seq, event: { type, ...fields } }) => JSON.parse(JSON.stringify({ type, v: 1, seq, ...fields }))),
      );
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('any split of any text that looks like a stream decodes the same', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'data: x',
        'data:',
        'id: 7',
        'id',
        'event: ping',
        ': a comment',
        'retry: 10',
        'retry: x',
        'other: 1',
        '',
        '',
        '\ufeffdata: y',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    );
    const text = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 30 }).map((lines) => lines.flat().join(''));
    const property = fc.property(text, places, (said, cuts) => {
      const bytes = bytesOf(said);
      assert.deepEqual(decoded(cut(bytes, cuts)), decoded([bytes]));
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  test('every byte alone makes the same frames', () => {
    const bytes = bytesOf(': open\r\n\r\nid: 1\r\nevent: a\r\ndata: {"größe":"😀"}\r\n\r\ndata: two\ndata: lines\n\n');
    const { frames } = decoded([...bytes].map((byte) => Uint8Array.of(byte)));
    assert.deepEqual(frames, [
      { id: '1', event: 'a', data: '{"größe":"😀"}' },
      { id: undefined, event: undefined, data: 'two\nlines' },
    ]);
  });

  test('a frame or a line beyond the bound ends the reading, however it was cut; what came before it is told', () => {
    const kinds = fc.constantFrom<(text: string) => string>(
      (text) => `data: ${text}\n\n`,
      (text) => `: ${text}\n\n`,
      (text) => `other: ${text}\n\n`,
      (text) => `data: ${text.slice(0, 80)}\n`.repeat(3).concat('\n'),
    );
    const property = fc.property(kinds, fc.integer({ min: 101, max: 400 }), places, (write, length, cuts) => {
      const bytes = bytesOf(`data: first\n\n${write('x'.repeat(length))}data: last\n\n`);
      const { frames, isWhole } = decoded(cut(bytes, cuts), 100);
      assert.equal(isWhole, false);
      assert.deepEqual(
        frames.map(({ data }) => data),
        ['first'],
      );
    });
    fc.assert(property, { numRuns: 300 });
    assert.equal(decoded([bytesOf(`data: ${'x'.repeat(100)}\n\n`)], 100).isWhole, true);
  });
});
