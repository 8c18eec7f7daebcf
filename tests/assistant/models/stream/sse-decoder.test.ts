import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SseDecoder } from '../../../../assistant/models/stream/sse-decoder.ts';

function collect(parts: readonly Buffer[], lineMaxBytes?: number): { payloads: string[]; ok: boolean } {
  const payloads: string[] = [];
  const decoder = new SseDecoder(
    {
      data: (payload) => payloads.push(payload) > 0,
      error: (payload) => payloads.push(`error=${payload}`) > 0,
    },
    lineMaxBytes,
  );
  const ok = parts.every((part) => decoder.push(part));
  return { payloads, ok: ok && decoder.end() };
}

function decode(text: string): string[] {
  return collect([Buffer.from(text)]).payloads;
}

describe('MODEL-13: SSE lines', () => {
  test('data lines give their payload, with or without the space, LF or CRLF', () => {
    assert.deepEqual(decode('data: a\n\ndata:b\r\n\r\ndata:  c\n'), ['a', 'b', ' c']);
  });

  test('comments, other fields and empty data are passed over', () => {
    assert.deepEqual(decode(': ping\nevent: x\nid: 1\nretry: 5\ndata:\ndata: \ndatum: no\ndata: a\n'), ['a']);
  });

  test('a byte order mark at the start does not hide the first line, one later is data', () => {
    assert.deepEqual(decode('\uFEFFdata: a\ndata: \uFEFFb\n'), ['a', '\uFEFFb']);
  });

  test('a last line without an end counts', () => {
    assert.deepEqual(decode('data: a\n\ndata: [DONE]'), ['a', '[DONE]']);
  });

  test('the error field of llama.cpp is told apart', () => {
    assert.deepEqual(decode('error: {"code":500}\n'), ['error= {"code":500}']);
  });

  test('nothing is handed over after the sink wants no more', () => {
    const payloads: string[] = [];
    const decoder = new SseDecoder({ data: (payload) => payloads.push(payload) < 2, error: () => true });
    assert.equal(decoder.push(Buffer.from('data: 1\ndata: 2\ndata: 3\n')), true);
    assert.deepEqual(payloads, ['1', '2']);
  });

  test('MODEL-15: a line of 1 MB passes, a longer one does not, whether it comes at once or in pieces', () => {
    const limit = 1024 * 1024;
    const longest = Buffer.from(`data: ${'x'.repeat(limit - 6)}\n`);
    assert.equal(collect([longest]).ok, true);
    assert.equal(collect([longest.subarray(0, 500_000), longest.subarray(500_000)]).payloads[0]?.length, limit - 6);
    const tooLong = Buffer.from(`data: ${'x'.repeat(limit - 5)}\n`);
    assert.equal(collect([tooLong]).ok, false);
    assert.equal(collect([tooLong.subarray(0, 500_000), tooLong.subarray(500_000)]).ok, false);
    assert.equal(collect([tooLong.subarray(0, -1)]).ok, false);
  });

  test('any chunking gives the same payloads, also inside UTF-8 sequences and CRLF', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
      fc.constantFrom('', ': note', 'data: €uro 🦜', 'event: ping'),
    );
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 12 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(400), { maxLength: 30 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(''));
        const bounds = [...new Set([0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length])].sort((a, b) => a - b);
        const parts = bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end));
        const expected = Buffer.from(lines.map(([text]) => text).join('\n'))
          .toString()
          .split('\n')
          .filter((text) => text.startsWith('data: ') && text.length > 6)
          .map((text) => text.slice(6));
        assert.deepEqual(collect(parts).payloads, expected);
      }),
    );
  });
});
