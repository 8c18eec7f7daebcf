/** RFC 9112 §6.3: a request whose length or host can be read in two ways is 400, its connection ends, and nothing behind it is answered. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import * as v from 'valibot';
import { defineRoute, json } from '../../../gateway/route.ts';
import { serve } from '../test-server.ts';

const echo = defineRoute({
  method: 'POST',
  path: '/v1/echo',
  caller: 'anyone',
  body: v.unknown(),
  handle: ({ body }) => json({ echoed: body }),
});
const seen: string[] = [];
const secret = defineRoute({
  method: 'GET',
  path: '/v1/smuggled',
  caller: 'anyone',
  handle({ requestId }) {
    seen.push(requestId);
    return json({ smuggled: true });
  },
});

/** Much longer than any answer takes: a connection that is left open fails its test instead of keeping it. */
const LEFT_OPEN_MS = 10_000;

/** All that the server says until it closes the connection, or has answered `until`. */
function exchange(port: number, raw: string, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(raw));
    socket.setTimeout(LEFT_OPEN_MS, () => socket.destroy(new Error(`the connection was left open after: ${answer}`)));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
      if (until !== undefined && answer.includes(until)) socket.destroy();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

const head = (...lines: string[]) => ['POST /v1/echo HTTP/1.1', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');
const BEHIND = 'GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

const SHAPES: Readonly<Record<string, string>> = {
  'two lengths that differ, the first short': `${head('Host: x', 'Content-Length: 2', 'Content-Length: 43')}{}${BEHIND}`,
  'two lengths that differ, the first long': `${head('Host: x', 'Content-Length: 43', 'Content-Length: 2')}{}${BEHIND}`,
  'two lengths that agree': `${head('Host: x', 'Content-Length: 2', 'Content-Length: 2')}{}${BEHIND}`,
  'a list of lengths': `${head('Host: x', 'Content-Length: 2, 2')}{}${BEHIND}`,
  'an empty length': head('Host: x', 'Content-Length:') + BEHIND,
  'an empty length, then one': `${head('Host: x', 'Content-Length:', 'Content-Length: 2')}{}${BEHIND}`,
  'a length with a sign': `${head('Host: x', 'Content-Length: +2')}{}${BEHIND}`,
  'a length, then chunks': `${head('Host: x', 'Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n${BEHIND}`,
  'chunks, then a length': `${head('Host: x', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${BEHIND}`,
  'an encoding without a name, and a length': `${head('Host: x', 'Transfer-Encoding:', 'Content-Length: 2')}{}${BEHIND}`,
  'an encoding that is not ours': `${head('Host: x', 'Transfer-Encoding: xchunked')}2\r\n{}\r\n0\r\n\r\n${BEHIND}`,
  'two encodings in a line': `${head('Host: x', 'Transfer-Encoding: gzip, chunked')}2\r\n{}\r\n0\r\n\r\n${BEHIND}`,
  'two lines of encodings': `${head('Host: x', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}2\r\n{}\r\n0\r\n\r\n${BEHIND}`,
  'a GET with chunks': `GET /v1/smuggled HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n${BEHIND}`,
  'two hosts': `${head('Host: x', 'Host: y', 'Content-Length: 2')}{}${BEHIND}`,
};

test('HTTP-11: a request whose length or host can be read in two ways is 400, and nothing behind it is answered', async (t) => {
  const { port } = await serve(t, [echo, secret]);
  for (const [name, raw] of Object.entries(SHAPES)) {
    // With another request behind it in the same packet, the connection is cut before the answer.
    assert.doesNotMatch(await exchange(port, raw), /echoed|smuggled| 200 /, name);
    assert.match(await exchange(port, raw.replace(BEHIND, '')), /^HTTP\/1\.1 (?:400|505) (?![\s\S]*echoed)/, name);
  }
  assert.deepEqual(seen, []);
});

test('HTTP-11: that holds on every path: one that nobody has, a method that a path does not have, and a preflight', async (t) => {
  const { port } = await serve(t, [echo, secret]);
  const places = ['POST /nothing', 'OPTIONS /nothing', 'POST /v1/nothing', 'GET /console/nothing', 'PUT /v1/echo', 'OPTIONS /v1/echo'];
  for (const place of places) {
    for (const shape of ['two lengths that differ, the first short', 'a length, then chunks', 'two hosts']) {
      const raw = (SHAPES[shape] as string).replace('POST /v1/echo', place);
      assert.doesNotMatch(await exchange(port, raw), /smuggled| 20\d /, `${place}: ${shape}`);
      assert.match(await exchange(port, raw.replace(BEHIND, '')), /^HTTP\/1\.1 400 /, `${place}: ${shape}`);
    }
  }
  assert.deepEqual(seen, []);
});

test('HTTP-11: one length, or chunks, are read as ever, and the connection goes on', async (t) => {
  const { port } = await serve(t, [echo, secret]);
  for (const body of [
    `${head('Host: x', 'Content-Length: 2')}{}`,
    `${head('Host: x', 'Transfer-Encoding: Chunked')}2\r\n{}\r\n0\r\n\r\n`,
  ]) {
    const answer = await exchange(port, body + BEHIND, 'smuggled');
    assert.match(answer, /echoed[\s\S]*smuggled/);
  }
});
