import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AnswerScanner, NotHttp } from '../../../bench/loadtest/answer-scanner.ts';

interface Scanned {
  readonly status: number;
  readonly body: string;
  /** Whether it ended, and whether its connection goes on. */
  readonly end: boolean | undefined;
  readonly headers: ReadonlyMap<string, string>;
}

function scan(pieces: readonly Uint8Array[], closes = false): Scanned {
  let status = 0;
  let headers: ReadonlyMap<string, string> = new Map();
  let end: boolean | undefined;
  const chunks: Buffer[] = [];
  const scanner = new AnswerScanner({
    head: (head) => {
      ({ status, headers } = head);
    },
    body: (bytes) => chunks.push(Buffer.from(bytes)),
    end: (mayGoOn) => {
      assert.equal(end, undefined, 'it ends once');
      end = mayGoOn;
    },
  });
  for (const piece of pieces) scanner.push(piece);
  if (closes) scanner.closed();
  return { status, headers, body: Buffer.concat(chunks).toString('utf8'), end };
}

/** Bytes cut at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

const whole = (text: string): Uint8Array => new TextEncoder().encode(text);
const words = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), { maxLength: 8 });
const places = fc.array(fc.nat(5_000), { maxLength: 30 });

describe('LOAD-9: an answer over HTTP/1.1', () => {
  test('is the same however its bytes are cut, with a length, in chunks and to the end of the connection', () => {
    const framing = fc.constantFrom('length', 'chunks', 'rest');
    const property = fc.property(words, places, framing, fc.boolean(), (parts, cuts, how, hasHints) => {
      const body = parts.join('');
      const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)}; x=1\r\n${part}\r\n`).join('');
      const framed = {
        length: `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        chunks: `Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\nTrailer: x\r\n\r\n`,
        rest: `\r\n${body}`,
      }[how];
      const text = `${hasHints ? 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' : ''}HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${framed}`;
      const scanned = scan(cut(whole(text), cuts), how === 'rest');
      assert.equal(scanned.status, 200);
      assert.equal(scanned.body, body);
      assert.equal(scanned.end, how !== 'rest');
      assert.equal(scanned.headers.get('content-type'), 'text/plain');
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('one without a body ends with its head', () => {
    assert.equal(scan([whole('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n')]).end, true);
    assert.equal(scan([whole('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')]).end, false);
    assert.equal(scan([whole('HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx')]).end, false);
  });

  test('one that is cut has no end', () => {
    assert.equal(scan([whole('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!')], true).end, undefined);
    assert.equal(scan([whole('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n')], true).end, undefined);
  });

  test('what is none is refused', () => {
    for (const text of [
      'SSH-2.0-OpenSSH_9.6\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nlong\r\n',
      `HTTP/1.1 200 OK\r\n${`X-Header: ${'x'.repeat(1_000)}\r\n`.repeat(70)}`,
    ]) {
      assert.throws(() => scan([whole(text)]), NotHttp, text.slice(0, 60));
    }
  });
});
