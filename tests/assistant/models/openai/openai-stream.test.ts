import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { Model, ModelFailure, RoundResult } from '../../../../assistant/models/model.ts';
import { createOpenAiModel } from '../../../../assistant/models/openai/openai.ts';
import type { ModelLog } from '../../../../assistant/models/stream/completion-run.ts';
import type { UpstreamModelOptions } from '../../../../assistant/models/stream/upstream-model.ts';
import { byteServer, chunkOf, contentLine, DONE_LINE, dataLine, RecordedSink, request, round, STOP_LINE } from './recorded-sink.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function modelOn(handle: (res: ServerResponse, nth: number) => void, options: Partial<UpstreamModelOptions> = {}): Promise<Model> {
  let nth = 0;
  const server = await byteServer((res) => handle(res, nth++));
  cleanups.push(() => server.close());
  return modelAt(server.baseUrl, options);
}

function modelAt(baseUrl: string, options: Partial<UpstreamModelOptions> = {}): Model {
  const model = createOpenAiModel({ baseUrl, model: 'test-model', ...options });
  cleanups.push(() => model.close());
  return model;
}

function sse(res: ServerResponse): ServerResponse {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  res.flushHeaders();
  return res;
}

function kindOf(end: RoundResult | ModelFailure): string {
  return 'kind' in end ? end.kind : `finished ${end.reason}`;
}

/** A short stream with everything in it. */
const STREAM = Buffer.from(
  `: hi\r\n\r\n${contentLine('Grüße')}${contentLine(' 🦜')}${contentLine(' ok')}${dataLine(
    chunkOf({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'go', arguments: '{"to":"Ö"}' } }] }, 'tool_calls'),
  )}${dataLine({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}${DONE_LINE}`,
);

function assertWholeStream(sink: RecordedSink, end: RoundResult | ModelFailure): void {
  assert.equal(sink.spoken, 'Grüße 🦜 ok');
  assert.deepEqual(end, {
    reason: 'tool_calls',
    toolCalls: [{ id: 'c1', name: 'go', arguments: '{"to":"Ö"}' }],
    usage: { inputTokens: 3, outputTokens: 4 },
  });
  assert.equal(sink.lastWords, 1);
}

describe('MODEL-13: a stream over the network, byte by byte', () => {
  test('split in two at every byte, it says the same', async () => {
    const model = await modelOn((res, nth) => {
      sse(res).write(STREAM.subarray(0, nth));
      setImmediate(() => res.end(STREAM.subarray(nth)));
    });
    for (let cut = 0; cut <= STREAM.length; cut++) {
      const { sink, end } = await round(model);
      assertWholeStream(sink, end);
    }
  });

  test('one byte at a time, it says the same', async () => {
    const model = await modelOn((res) => {
      sse(res).socket?.setNoDelay(true);
      const next = (at: number): void => {
        if (at === STREAM.length) res.end();
        else res.write(STREAM.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    });
    const { sink, end } = await round(model);
    assertWholeStream(sink, end);
  });

  test('the deltas of one read are one call, text before the tool call that follows it', async () => {
    const words = Array.from({ length: 10 }, (_, i) => `w${i} `);
    const model = await modelOn((res) => {
      // One write of several HTTP chunks: undici hands over each for itself.
      res.cork();
      sse(res);
      for (const word of words) res.write(contentLine(word));
      res.write(dataLine(chunkOf({ tool_calls: [{ index: 0, id: 'c', function: { name: 'go' } }] })));
      res.write(contentLine('after') + STOP_LINE + DONE_LINE);
      res.uncork();
      res.end();
    });
    const { sink } = await round(model);
    const said = sink.heard.slice(0, -1);
    assert.deepEqual(said, [{ text: words.join('') }, { started: 'go', id: 'c' }, { text: 'after' }]);
  });

  test('CRLF line ends and a missing [DONE] after a finish reason are accepted', async () => {
    const model = await modelOn((res) => sse(res).end((contentLine('Hi') + STOP_LINE).replaceAll('\n', '\r\n')));
    const { sink, end } = await round(model);
    assert.equal(sink.spoken, 'Hi');
    assert.equal(kindOf(end), 'finished stop');
  });

  test('[DONE] without a finish reason finishes, also as a last line without an end', async () => {
    const model = await modelOn((res) => sse(res).end(`${contentLine('Hi')}data: [DONE]`));
    assert.equal(kindOf((await round(model)).end), 'finished stop');
  });

  test('a stream that ends with neither is broken', async () => {
    const model = await modelOn((res) => sse(res).end(contentLine('Hi')));
    const { sink, end } = await round(model);
    assert.equal(sink.spoken, 'Hi');
    assert.deepEqual(end, { kind: 'broken', detail: 'the stream ended without a finish reason', argumentChars: 0 });
  });

  test('the end is told at [DONE], before the answer ends, and nothing after it is heard', async () => {
    let open: ServerResponse | undefined;
    const model = await modelOn((res) => {
      open = sse(res);
      res.write(contentLine('Hi') + STOP_LINE + DONE_LINE + contentLine('ghost'));
    });
    const { sink, end } = await round(model);
    assert.equal(kindOf(end), 'finished stop');
    open?.end(contentLine('ghost') + dataLine({ error: { code: 500 } }));
    await round(modelAt(await doneServer()));
    assert.equal(sink.spoken, 'Hi');
    assert.equal(sink.lastWords, 1);
  });
});

async function doneServer(): Promise<string> {
  const server = await byteServer((res) => sse(res).end(contentLine('x') + STOP_LINE + DONE_LINE));
  cleanups.push(() => server.close());
  return server.baseUrl;
}

describe('MODEL-16: an upstream that fails', () => {
  test('an error line is busy before output, broken after it', async () => {
    const line = dataLine({ error: { message: 'Slow down.', code: 'rate_limit_exceeded' } });
    const model = await modelOn((res, nth) => sse(res).end(nth === 0 ? line : contentLine('Hi') + line));
    assert.deepEqual((await round(model)).end, {
      kind: 'busy',
      detail: 'error in the stream rate_limit_exceeded: Slow down.',
      code: 'rate_limit_exceeded',
    });
    const { sink, end } = await round(model);
    assert.equal(kindOf(end), 'broken');
    assert.equal(sink.spoken, 'Hi');
  });

  test('a connection reset in the stream is broken; after the finish reason nothing is missing', async () => {
    const model = await modelOn((res, nth) => {
      sse(res).write(contentLine('Hi') + (nth === 0 ? '' : STOP_LINE), () => setImmediate(() => res.socket?.resetAndDestroy()));
    });
    const first = await round(model);
    assert.equal(kindOf(first.end), 'broken');
    assert.equal(first.sink.lastWords, 1);
    const second = await round(model);
    assert.equal(kindOf(second.end), 'finished stop');
  });

  test('a refused connection is broken, and told after stream() has returned', async () => {
    const server = await byteServer(() => {});
    await server.close();
    const sink = new RecordedSink();
    modelAt(server.baseUrl).stream(request(), sink);
    assert.equal(sink.heard.length, 0);
    assert.deepEqual(await sink.ended, { kind: 'broken', detail: 'the connection failed: ECONNREFUSED', code: 'ECONNREFUSED' });
  });

  test('a key that no header can carry is refused without being told', async () => {
    const sink = new RecordedSink();
    modelAt(await doneServer(), { apiKey: 'line\nbreak' }).stream(request(), sink);
    assert.equal(sink.heard.length, 0);
    const end = await sink.ended;
    assert.equal(kindOf(end), 'misconfigured');
    assert.ok('detail' in end && !end.detail.includes('break'));
  });

  test('a 200 that is no event stream is told by what it is', async () => {
    const answers: [string, string][] = [
      ['text/html', '<html>secret text</html>'],
      ['application/json', '{"choices":[]}'],
      ['application/json', '{"error":{"code":429,"message":"Too many."}}'],
      ['application/json', '{"error":{"code":401,"type":"auth"}}'],
      ['application/json', '{"error":{"code":502}}'],
    ];
    const model = await modelOn((res, nth) => {
      const [type, body] = answers[nth] ?? ['', ''];
      res.writeHead(200, { 'content-type': type }).end(body);
    });
    const ends: (RoundResult | ModelFailure)[] = [];
    for (const _ of answers) ends.push((await round(model)).end);
    assert.deepEqual(ends, [
      { kind: 'misconfigured', detail: 'status 200 with text/html instead of an event stream', status: 200 },
      { kind: 'misconfigured', detail: 'status 200 with application/json instead of an event stream', status: 200 },
      { kind: 'busy', detail: 'status 200 with application/json instead of an event stream error 429: Too many.', status: 429 },
      {
        kind: 'misconfigured',
        detail: 'status 200 with application/json instead of an event stream error 401 auth',
        status: 401,
        code: 'auth',
      },
      { kind: 'broken', detail: 'status 200 with application/json instead of an event stream error 502', status: 502 },
    ]);
  });

  test('a redirect is refused; an error body without end is judged by its beginning', async () => {
    const model = await modelOn((res, nth) => {
      if (nth === 0) res.writeHead(302, { location: '/elsewhere' }).end();
      else res.writeHead(503, { 'content-type': 'text/plain' }).write('x'.repeat(40_000));
    });
    assert.deepEqual((await round(model)).end, { kind: 'misconfigured', detail: 'status 302', status: 302 });
    assert.deepEqual((await round(model)).end, { kind: 'busy', detail: 'status 503', status: 503 });
  });

  test('MODEL-15: a line beyond 1 MB is broken', async () => {
    const model = await modelOn((res) => sse(res).write(`data: ${'x'.repeat(1_100_000)}`));
    assert.deepEqual((await round(model)).end, { kind: 'broken', detail: 'a line of the stream is too long' });
  });

  test('bytes that are no HTTP are broken', async () => {
    const server = createTcpServer((socket: Socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(async () => {
      server.close();
      await once(server, 'close');
    });
    const { end } = await round(modelAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
    assert.equal(kindOf(end), 'broken');
  });
});

describe('MODEL-17: silence', () => {
  test('is noticed before the head, in the stream, and not counted against comments', { timeout: 120_000 }, async () => {
    let pings: NodeJS.Timeout | undefined;
    const model = await modelOn(
      (res, nth) => {
        if (nth === 1) sse(res).write(contentLine('Hi'));
        if (nth === 2) {
          sse(res);
          let left = 30;
          pings = setInterval(() => {
            res.write(': ping\n\n');
            if (--left > 0) return;
            clearInterval(pings);
            res.end(STOP_LINE + DONE_LINE);
          }, 10);
        }
      },
      { silenceMs: 120 },
    );
    const mute = await round(model);
    assert.deepEqual(mute.end, { kind: 'silent', detail: 'nothing came for 120 ms' });
    const halfway = await round(model);
    assert.equal(halfway.sink.spoken, 'Hi');
    assert.equal(kindOf(halfway.end), 'silent');
    assert.equal(kindOf((await round(model)).end), 'finished stop');
  });

  test('after the finish reason it is the end; in an error body it is the error', { timeout: 120_000 }, async () => {
    const model = await modelOn(
      (res, nth) => {
        if (nth === 0) sse(res).write(contentLine('Hi') + STOP_LINE);
        else res.writeHead(401, { 'content-type': 'application/json' }).write('{"error":');
      },
      { silenceMs: 60 },
    );
    assert.equal(kindOf((await round(model)).end), 'finished stop');
    assert.deepEqual((await round(model)).end, { kind: 'misconfigured', detail: 'status 401', status: 401 });
  });

  test('an answer that never ends after [DONE] loses its connection', { timeout: 120_000 }, async () => {
    let closed: Promise<unknown[]> | undefined;
    const model = await modelOn(
      (res) => {
        closed = once(res, 'close');
        sse(res).write(contentLine('Hi') + STOP_LINE + DONE_LINE);
      },
      { silenceMs: 60 },
    );
    const { sink, end } = await round(model);
    assert.equal(kindOf(end), 'finished stop');
    await closed;
    assert.equal(sink.lastWords, 1);
  });
});

describe('MODEL-18: the run in the hands of its caller', () => {
  test('pause stops the upstream, resume brings all of the rest, and silence does not count in between', { timeout: 120_000 }, async () => {
    const piece = contentLine('x'.repeat(60_000));
    const pieces = 400;
    let upstream: ServerResponse | undefined;
    const model = await modelOn(
      (res) => {
        upstream = sse(res);
        for (let i = 0; i < pieces; i++) res.write(piece);
        res.end(STOP_LINE + DONE_LINE);
      },
      // Writing all pieces takes longer than some milliseconds where many programs run at once.
      { silenceMs: 500 },
    );
    const sink = new RecordedSink();
    const paused = new Promise<void>((resolve) => {
      sink.onText = () => {
        run.pause();
        resolve();
      };
    });
    const run = model.stream(request(), sink);
    await paused;
    // A second upstream falls silent twice meanwhile, so the time has passed in which this one would have, too.
    const mute = modelAt((await muteServer()).baseUrl, { silenceMs: 500 });
    assert.equal(kindOf((await round(mute)).end), 'silent');
    const heard = sink.spoken.length;
    assert.equal(kindOf((await round(mute)).end), 'silent');
    assert.equal(sink.spoken.length, heard);
    assert.ok(heard < (pieces * 60_000) / 4);
    assert.ok((upstream?.writableLength ?? 0) > 0);
    sink.onText = () => {};
    run.resume();
    assert.equal(kindOf(await sink.ended), 'finished stop');
    assert.equal(sink.spoken.length, pieces * 60_000);
  });

  test('pause before the answer holds it back until resume', async () => {
    const model = await modelOn((res) => sse(res).end(contentLine('Hi') + STOP_LINE + DONE_LINE));
    const sink = new RecordedSink();
    const run = model.stream(request(), sink);
    run.pause();
    await round(model);
    await round(model);
    assert.equal(sink.lastWords, 0);
    run.resume();
    assert.equal(sink.heard.length, 0, 'nothing is told inside resume()');
    assert.equal(kindOf(await sink.ended), 'finished stop');
    assert.equal(sink.spoken, 'Hi');
  });

  test('abort closes the connection and the sink hears nothing more', async () => {
    let closed: Promise<unknown[]> | undefined;
    const model = await modelOn((res) => {
      closed = once(res, 'close');
      sse(res).write(contentLine('one') + contentLine('two'));
    });
    const sink = new RecordedSink();
    const first = new Promise<void>((resolve) => {
      sink.onText = () => resolve();
    });
    const run = model.stream(request(), sink);
    await first;
    const heard = sink.heard.length;
    run.abort();
    run.abort();
    run.pause();
    run.resume();
    await closed;
    assert.equal(sink.heard.length, heard);
  });

  test('abort before the request leaves sends none; abort in a delta drops what follows it', async () => {
    let requests = 0;
    const model = await modelOn((res) => {
      requests++;
      sse(res).end(
        contentLine('one') + dataLine(chunkOf({ tool_calls: [{ index: 0, function: { name: 'go' } }] })) + STOP_LINE + DONE_LINE,
      );
    });
    const unheard = new RecordedSink();
    model.stream(request(), unheard).abort();
    const sink = new RecordedSink();
    const aborted = new Promise<void>((resolve) => {
      sink.onText = () => {
        run.abort();
        resolve();
      };
    });
    const run = model.stream(request(), sink);
    await aborted;
    await round(model);
    assert.equal(requests, 2);
    assert.deepEqual(unheard.heard, []);
    assert.deepEqual(sink.heard, [{ text: 'one' }]);
  });

  test('a sink that throws is told once that the round failed, and breaks nothing else', async () => {
    const warnings: string[] = [];
    const log: ModelLog = { warn: (_fields, message) => warnings.push(message) };
    const body =
      contentLine('a') +
      dataLine(
        chunkOf({
          tool_calls: [
            { index: 0, function: { name: 'go' } },
            { index: 1, function: { name: 'on' } },
          ],
        }),
      ) +
      STOP_LINE +
      DONE_LINE;
    const model = await modelOn((res) => sse(res).end(body), { log });
    for (const method of ['text', 'toolCallStarted', 'finished'] as const) {
      const sink = new RecordedSink();
      const thrown = new Promise<void>((resolve) => {
        const real = sink[method].bind(sink) as (value: unknown) => void;
        sink[method] = (value: unknown): void => {
          real(value);
          resolve();
          throw new Error('a bug');
        };
      });
      model.stream(request(), sink);
      await thrown;
      assert.equal(kindOf((await round(model)).end), 'finished tool_calls');
      assert.equal(sink.lastWords, 1, method);
      const lastIsEnd = sink.heard.at(-1) ?? {};
      assert.ok('failed' in lastIsEnd || 'finished' in lastIsEnd, method);
    }
    assert.equal(warnings.length, 3);
  });

  test('MODEL-15: a round that makes too many calls says so in the log, with its request id', async () => {
    const calls = Array.from({ length: 10 }, (_, index) => ({ index, id: `c${index}`, function: { name: 'go', arguments: '{}' } }));
    const said: [unknown, string][] = [];
    const model = await modelOn((res) => sse(res).end(dataLine(chunkOf({ tool_calls: calls }, 'tool_calls')) + DONE_LINE), {
      log: { warn: (fields, message) => said.push([fields, message]) },
    });
    const { end } = await round(model);
    assert.equal('toolCalls' in end && end.toolCalls.length, 8);
    assert.deepEqual(said, [
      [{ request_id: 'req-1', dropped: 2 }, 'the model made more tool calls than a round may have: the rest were dropped'],
    ]);
  });

  test('close fails the rounds still open and later ones', async () => {
    const server = await muteServer();
    const model = createOpenAiModel({ baseUrl: server.baseUrl, model: 'test-model' });
    const sink = new RecordedSink();
    model.stream(request(), sink);
    await once(server.server, 'request');
    await model.close();
    assert.deepEqual(await sink.ended, { kind: 'broken', detail: 'the model is being closed', isOurs: true });
    assert.equal(kindOf((await round(model)).end), 'broken');
    assert.equal(sink.lastWords, 1);
  });

  test('MODEL-14: connections are reused one round after another and not shared at one time', async () => {
    const sockets = new Set<unknown>();
    const held: ServerResponse[] = [];
    const model = await modelOn((res, nth) => {
      sockets.add(res.socket);
      sse(res).write(contentLine('Hi'));
      if (nth < 50) held.push(res);
      else res.end(STOP_LINE + DONE_LINE);
      if (held.length === 50) for (const open of held.splice(0)) open.end(STOP_LINE + DONE_LINE);
    });
    await Promise.all(Array.from({ length: 50 }, () => round(model)));
    assert.equal(sockets.size, 50);
    for (let i = 0; i < 20; i++) await round(model);
    // One more at most: a round ends at [DONE], a moment before its connection is free.
    assert.ok(sockets.size <= 51);
  });
});

async function muteServer(): ReturnType<typeof byteServer> {
  const server = await byteServer(() => {});
  cleanups.push(() => server.close());
  return server;
}

describe('MODEL-14: options', () => {
  test('the key is a bearer token, a base URL keeps its path and query, and no key sends no header', async () => {
    const seen: unknown[] = [];
    const server = await byteServer((res, req) => {
      seen.push([req.url, req.headers.authorization, req.headers['x-request-id'], req.headers['content-type']]);
      sse(res).end(STOP_LINE + DONE_LINE);
    });
    cleanups.push(() => server.close());
    await round(modelAt(`${server.baseUrl}/`, { apiKey: 'k' }));
    await round(modelAt(`${server.baseUrl}/deployments/x?api-version=1`), { requestId: 'bad id\r\n' });
    assert.deepEqual(seen, [
      ['/v1/chat/completions', 'Bearer k', 'req-1', 'application/json'],
      ['/v1/deployments/x/chat/completions?api-version=1', undefined, undefined, 'application/json'],
    ]);
  });

  test('a base URL of another kind is an error at once', () => {
    assert.throws(() => createOpenAiModel({ baseUrl: 'ftp://x/v1', model: 'm' }), TypeError);
    assert.throws(() => createOpenAiModel({ baseUrl: 'no url', model: 'm' }), TypeError);
  });
});
