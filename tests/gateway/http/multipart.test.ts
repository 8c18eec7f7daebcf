import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { request } from 'undici';
import type { Interface } from '../../../gateway/http/interface.ts';
import { openUploadForm } from '../../../gateway/http/multipart.ts';
import { defineRoute, json, runtimeRoute, type UploadedFile } from '../../../gateway/route.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { serveApp } from '../runtime/runtime-app.ts';
import { serve } from '../test-server.ts';

const BOUNDARY = 'x-boundary-x';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const MAX_BYTES = 1_000_000;
const RULE = { field: 'file', maxBytes: MAX_BYTES } as const;

/** A part; `more` goes behind its name, e.g. `; filename="a.png"`. */
function part(name: string, content: Buffer | string, more = '; filename="logo.png"', headers = ''): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content as string), Buffer.from('\r\n')]);
}

function form(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** What comes of the body when it arrives in these pieces. */
function parse(pieces: readonly Uint8Array[], face: Interface = 'console', rule: typeof RULE = RULE): Promise<UploadedFile | Refusal> {
  return new Promise((resolve, reject) => {
    let settled = 0;
    const upload = openUploadForm(TYPE, rule, face, (outcome) => {
      settled += 1;
      if (settled > 1) reject(new Error('settled twice'));
      // After everything else that is due: a second outcome would come by then.
      setImmediate(() => resolve(outcome));
    });
    for (const piece of pieces) upload.write(piece);
    upload.end();
  });
}

async function refusalOf(body: Uint8Array, face: Interface = 'console'): Promise<Refusal> {
  const outcome = await parse([body], face);
  assert.ok(outcome instanceof Refusal, 'the body was taken');
  return outcome;
}

async function fileOf(body: Uint8Array, face: Interface = 'console'): Promise<UploadedFile> {
  const outcome = await parse([body], face);
  if (outcome instanceof Refusal) throw outcome;
  return outcome;
}

test('HTTP-10: the file comes out as it went in, wherever the body was cut on its way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.array(fc.nat(600), { maxLength: 20 }), async (content, cuts) => {
      const body = form(part('file', Buffer.from(content)));
      const ends = [...new Set(cuts.map((cut) => Math.min(cut, body.length)))].sort((one, other) => one - other);
      const pieces = [...ends, body.length].map((end, i) => body.subarray(ends[i - 1] ?? 0, end));
      const outcome = await parse(pieces);
      return !(outcome instanceof Refusal) && Buffer.from(outcome.bytes).equals(Buffer.from(content)) && outcome.fileName === 'logo.png';
    }),
    { numRuns: 300 },
  );
});

test('HTTP-10: whatever the body, there is one outcome', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        `--${BOUNDARY}`,
        `--${BOUNDARY}--`,
        '\r\n',
        '\r\n\r\n',
        '--',
        'Content-Disposition: form-data; name="file"; filename="a"',
        'Content-Type: image/png',
        ':',
      )
      .map((text) => Buffer.from(text)),
    fc.constant(part('file', 'abc')),
    fc.constant(part('note', 'abc', '')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.constantFrom<Interface>('console', 'runtime'), async (pieces, face) => {
      const outcome = await parse(pieces, face);
      return outcome instanceof Refusal ? outcome.status === 400 : outcome.bytes.length > 0;
    }),
    { numRuns: 500 },
  );
});

test('HTTP-10: the name of a file is without folders and control characters, and bounded', async () => {
  const nameOf = async (given: string) => (await fileOf(form(part('file', 'x', `; filename="${given}"`)))).fileName;
  assert.equal(await nameOf('C:\\logos\\a.png'), 'a.png');
  assert.equal(await nameOf('../../etc/passwd'), 'passwd');
  assert.equal(await nameOf('über \u0007logo.png'), 'über logo.png');
  assert.equal(await nameOf('😀'.repeat(300)), '😀'.repeat(255));
  const unnamed = form(part('file', 'x', '', 'Content-Type: application/octet-stream\r\n'));
  assert.equal((await fileOf(unnamed)).fileName, '');
});

test('HTTP-10: a body without the file is 400 invalid_body naming it', async () => {
  for (const [body, message] of [
    [form(), /^file /],
    [Buffer.alloc(0), /^file /],
    [form(part('file', 'text, not a file', '')), /^file must be a file/],
    [form(part('logo', 'x')), /^logo is not a field/],
    [form(part('note', 'x', ''), part('file', 'x')), /^note is not a field/],
    [form(part('file', 'one'), part('file', 'two')), /^file must be one file/],
    [part('file', 'cut off'), /^file is cut off/],
    [form(part('file', 'x')).subarray(0, 60), /^file is cut off/],
    [Buffer.from('{"file":"x"}'), /^file /],
  ] as const) {
    const { code, status, message: told, details } = await refusalOf(body);
    assert.deepEqual([code, status, details?.length], ['invalid_body', 400, 1], told);
    assert.match(told, message);
  }
});

test('HTTP-3: unknown fields beside the file are ignored, and faults go by its own codes', async () => {
  const { bytes } = await fileOf(form(part('note', 'x', ''), part('file', 'content')), 'runtime');
  assert.equal(Buffer.from(bytes).toString(), 'content');
  assert.equal((await refusalOf(form(), 'runtime')).code, 'invalid_request');
  assert.equal((await refusalOf(form(part('file', '')), 'runtime')).code, 'invalid_request');
  const large = await refusalOf(form(part('file', Buffer.alloc(MAX_BYTES + 1))), 'runtime');
  assert.deepEqual([large.code, large.status], ['payload_too_large', 413]);
});

test('HTTP-10: a file of no bytes is 400 empty_file', async () => {
  for (const more of ['; filename="logo.png"', '; filename=""']) {
    const { code, status } = await refusalOf(form(part('file', '', more)));
    assert.deepEqual([code, status], ['empty_file', 400]);
  }
});

test('HTTP-10: a file of the limit is taken, one byte more is 413 too_large', async () => {
  assert.equal((await fileOf(form(part('file', Buffer.alloc(MAX_BYTES))))).bytes.length, MAX_BYTES);
  const { code, status } = await refusalOf(form(part('file', Buffer.alloc(MAX_BYTES + 1))));
  assert.deepEqual([code, status], ['too_large', 413]);
});

test('HTTP-10: parts are counted, so that no body of empty ones keeps the parser busy', async () => {
  const body = form(...Array.from({ length: 40 }, () => part('note', '', '')), part('file', 'x'));
  assert.match((await refusalOf(body, 'runtime')).message, /more than 16 parts/);
});

const uploadRoute = defineRoute({
  method: 'POST',
  path: '/console/upload/:id',
  caller: 'anyone',
  upload: RULE,
  handle({ params, upload }) {
    return json({ id: params.id, size: upload.bytes.length, name: upload.fileName, last: upload.bytes.at(-1) });
  },
});

async function post(t: TestContext, body: Buffer | AsyncIterable<Buffer>, contentType: string) {
  const server = await serve(t, [uploadRoute]);
  const answer = await request(`${server.base}/console/upload/a`, {
    method: 'POST',
    headers: contentType === '' ? {} : { 'Content-Type': contentType },
    body: body as Buffer,
  });
  return { status: answer.statusCode, json: (await answer.body.json()) as Record<string, unknown>, logged: server.logged };
}

test('HTTP-10: a large file arrives whole, also in chunks without a length', async (t) => {
  const content = Buffer.alloc(MAX_BYTES, 1);
  content[MAX_BYTES - 1] = 7;
  const body = form(part('file', content));
  const expected = { id: 'a', size: MAX_BYTES, name: 'logo.png', last: 7 };
  assert.deepEqual((await post(t, body, TYPE)).json, expected);
  const chunks = async function* () {
    for (let at = 0; at < body.length; at += 70_001) yield body.subarray(at, at + 70_001);
  };
  assert.deepEqual((await post(t, chunks(), TYPE)).json, expected);
});

test('HTTP-10: a body that announces no form is 400 invalid_body naming file', async (t) => {
  for (const type of ['', 'image/png', 'application/json', 'multipart/form-data', 'multipart/mixed; boundary=x', 'nonsense']) {
    const { status, json: body } = await post(t, Buffer.from('abc'), type);
    const { code, message } = body.error as { code: string; message: string };
    assert.deepEqual([status, code], [400, 'invalid_body'], type);
    assert.match(message, /^file must be sent as multipart\/form-data/);
  }
});

test('HTTP-5: too large a body is refused before it has arrived, by its length or by counting', {
  timeout: 20_000,
}, async (t) => {
  const server = await serve(t, [uploadRoute]);
  const head = `POST /console/upload/a HTTP/1.1\r\nHost: x\r\nContent-Type: ${TYPE}\r\n`;
  const answerTo = (start: readonly (string | Buffer)[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', reject);
      socket.once('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
      for (const piece of start) socket.write(piece);
    });
  assert.match(await answerTo([`${head}Content-Length: ${10 * MAX_BYTES}\r\n\r\n`]), /^HTTP\/1\.1 413 .*"too_large"/s);
  const chunk = part('file', Buffer.alloc(2 * MAX_BYTES));
  const counted = [`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n`, chunk, '\r\n'];
  assert.match(await answerTo(counted), /^HTTP\/1\.1 413 .*"too_large"/s);
});

test('UPLOAD-6: whoever gave the place may end the upload, hears how much has come, and gets the place back', async (t) => {
  const heard: (readonly [number, boolean])[] = [];
  let left = 0;
  const enter = () => {
    let end: (refusal: Refusal) => void = () => {};
    return {
      leave: () => void left++,
      arrived(bytes: number, isWhole: boolean) {
        heard.push([bytes, isWhole]);
        end(new Refusal('upload_too_slow', 'Too slow.'));
      },
      whenEnded(listener: typeof end) {
        end = listener;
      },
    };
  };
  const route = runtimeRoute('POST', '/console/upload/:id', { limits: [], upload: { ...RULE, enter }, handle: () => json({}) });
  const server = await serveApp(t, [route]);
  const socket = connect(server.port, '127.0.0.1');
  const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  const begun = `--${BOUNDARY}\r\n`;
  const head = `POST /console/upload/a HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${server.test}\r\n`;
  socket.write(`${head}Content-Type: ${TYPE}\r\nContent-Length: 500\r\n\r\n${begun}`);
  assert.match(await answered, /^HTTP\/1\.1 408 .*"upload_too_slow"/s);
  assert.deepEqual([heard[0], left > 0], [[begun.length, false], true]);
  socket.destroy();
});
