/** The model that is reached over the network, whatever its wire, through undici's dispatch: a fraction of the cost of fetch. */

import type { OnReadOpts, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { MODEL_SILENCE_MS } from '../../../protocol/limits.ts';
import { withoutEnd } from '../../../protocol/schema/text.ts';
import { Pool } from '../../http/undici.ts';
import type { Model, ModelFailure, ModelRequest, ModelRun, ModelSink } from '../model.ts';
import { CompletionRun, type MakeDecoder, type ModelLog } from './completion-run.ts';
import { PassingBody, type StreamedBody } from './request-body.ts';
import { SendingBudget } from './sending-budget.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Some fifteen deltas of OpenAI's; libuv reads on at once while more is there. */
const READ_BYTES = 4 * 1024;
/** Less than this lies in memory that Node shares out in pieces, which is quicker, and holds all of it for as long as one piece is held. */
const SHARED_BYTES = 1024;

/** All connections are read into one piece of memory: what came is copied before the next read, so a delta of 200 bytes holds 200 bytes. */
function smallReads(): { readonly highWaterMark: number; readonly onread: OnReadOpts } {
  return {
    highWaterMark: READ_BYTES,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      // Node calls it as a method of the socket. What it returns says whether to read on.
      callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
        const piece = bytes < SHARED_BYTES ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes);
        piece.set(buffer.subarray(0, bytes));
        return this.push(piece);
      },
    },
  };
}

/** More than the 10,000 streams that a process is built for, well below the 28,000 local ports for one address; further rounds wait. */
export const MODEL_CONNECTIONS_MAX = 16_384;

/** What may go into a header as it is; other request ids are left out. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Headers that servers look for a key in; Azure's is `api-key`. */
export const KEY_HEADERS = ['authorization', 'api-key', 'x-api-key'] as const;
export type KeyHeader = (typeof KEY_HEADERS)[number];

/** How a kind of server is spoken to: how a request is written, and how its answer is read. Those of another maker are a folder beside `openai/`. */
export interface Wire {
  readonly path: string;
  /** Where the key goes; behind `Bearer` in `authorization`. */
  readonly keyHeader: KeyHeader;
  /** Headers that all requests have. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @throws what writing JSON throws. */
  body(model: string, request: ModelRequest, host: string): PassingBody | StreamedBody;
  readonly decoder: MakeDecoder;
}

export interface UpstreamModelOptions {
  /** Servers of one's own often need none. */
  readonly apiKey?: string | undefined;
  /** Undefined: the wire's own. */
  readonly keyHeader?: KeyHeader | undefined;
  readonly baseUrl: string;
  readonly model: string;
  /** How long the upstream may send nothing before a round fails as `silent`. */
  readonly silenceMs?: number;
  readonly connections?: number;
  readonly log?: ModelLog | undefined;
  /** Called when a round that was not aborted has ended; undefined when it was answered. */
  readonly onOutcome?: (failure: ModelFailure | undefined) => void;
  readonly sending?: SendingBudget;
  readonly nowMs?: () => number;
}

/** The body as it goes out: the run is not silent while its pictures are on their way, and gives its room back behind the last. */
async function* sent(body: StreamedBody, run: CompletionRun, leave: () => void): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of body.stream()) {
      run.heard = true;
      yield piece;
    }
  } finally {
    leave();
  }
}

/** Throws a TypeError when `baseUrl` is no http(s) URL. `close` fails open rounds as `broken`. */
export function createUpstreamModel(options: UpstreamModelOptions, wire: Wire): Model {
  const { apiKey, model, log, silenceMs = MODEL_SILENCE_MS, connections = MODEL_CONNECTIONS_MAX, sending = new SendingBudget() } = options;
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'http:' && base.protocol !== 'https:') throw new TypeError('baseUrl must be an http or https URL');
  const path = `${withoutEnd(base.pathname, '/')}${wire.path}${base.search}`;
  const watch = new SilenceWatch<CompletionRun>(silenceMs, options.nowMs ?? (() => performance.now()));
  const pool = new Pool(base.origin, {
    connections,
    // One request at a time on a connection: behind a stream, another would wait for its end.
    pipelining: 1,
    // The silence watch covers all phases, with one timer.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Only clears away connections that nobody waits for any more.
    connectTimeout: silenceMs * 2,
    connect: smallReads(),
  });
  const keyHeader = options.keyHeader ?? wire.keyHeader;
  const key = apiKey === undefined || apiKey === '' ? {} : { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey };
  const fixedHeaders: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream', ...wire.headers, ...key };

  function dispatch(request: ModelRequest, run: CompletionRun): void {
    if (run.isOver()) return;
    let body: PassingBody | StreamedBody;
    try {
      body = wire.body(model, request, base.hostname);
    } catch {
      run.fail({ kind: 'refused', detail: 'the request cannot be written as JSON' });
      return;
    }
    const headers = REQUEST_ID.test(request.requestId) ? { ...fixedHeaders, 'x-request-id': request.requestId } : fixedHeaders;
    if (body instanceof PassingBody) dispatchText(headers, body, run);
    else dispatchPictures(request, headers, body, run);
  }

  function dispatchText(headers: Record<string, string>, body: PassingBody, run: CompletionRun): void {
    // undici takes any iterable, which its types do not say.
    const iterable = body as unknown as Readable;
    pool.dispatch({ path, method: 'POST', headers: { ...headers, 'content-length': String(body.bytes) }, body: iterable }, run);
  }

  function dispatchPictures({ sender }: ModelRequest, headers: Record<string, string>, body: StreamedBody, run: CompletionRun): void {
    const leave = sending.enter(sender, body.pictureBytes, {
      admitted(leaveEarly) {
        // The time of silence begins now, when it can be answered.
        run.heard = true;
        const stream = Readable.from(sent(body, run, leaveEarly), { objectMode: false });
        pool.dispatch({ path, method: 'POST', headers: { ...headers, 'content-length': String(body.bytes) }, body: stream }, run);
      },
      refused: () => run.fail({ kind: 'busy', detail: 'too many pictures are being sent at once', isOurs: true }),
    });
    run.whenClosed(leave);
  }

  return {
    name: model,
    stream(request: ModelRequest, sink: ModelSink): ModelRun {
      const { onOutcome } = options;
      const run = new CompletionRun(sink, {
        decoder: wire.decoder,
        watch,
        silenceMs,
        apiKey,
        requestId: request.requestId,
        messages: request.messages,
        log,
        onOutcome,
      });
      // Later, because undici reports what it will not send before dispatch returns, and the caller has no run until then.
      process.nextTick(dispatch, request, run);
      return run;
    },
    async close(): Promise<void> {
      for (const run of watch.all()) run.fail({ kind: 'broken', detail: 'the model is being closed', isOurs: true });
      await pool.destroy();
    },
  };
}
