/**
 * One request and its answer. Owns the uWebSockets objects and keeps their laws for everybody else:
 * the request is read only until its handler returns (what is needed later is copied by `detach`), an abort handler is
 * attached before anything asynchronous, nothing touches the response after an abort or the end, late writes are corked.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { CORS_EXPOSED_HEADERS, isSaneRequestId, REQUEST_ID_HEADER, RUNTIME_VARY, WARNING_HEADER } from '../../protocol/headers.ts';
import { addressKey, type ProxyTrust, readClientAddress } from './client-address.ts';
import type { Interface } from './interface.ts';
import { PassedAnswer } from './passed-answer.ts';
import { readParameters } from './path-parameters.ts';
import { statusLine } from './status-line.ts';

/** What of the route an exchange needs; made once per route. */
export interface ExchangePlan {
  readonly interface: Interface;
  /** Names of the path's parameters in their order. */
  readonly parameters: readonly string[];
  /** Undefined: no proxy is believed. */
  readonly trustProxy: ProxyTrust | undefined;
  /** Connections are closed after their answer when this says true. */
  closing(): boolean;
  /** Called once per exchange: with its status, or 499 when the client left before it had one. */
  finished(status: number): void;
}

export type Headers = Readonly<Record<string, string>>;
/** As they are written, a name perhaps more than once. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** nginx's number for "client closed request": seen in metrics only. */
const CLIENT_LEFT = 499;

type State = 'open' | 'streaming' | 'over';

export class Exchange {
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** The `Origin` header, '' when the caller is no browser. */
  readonly origin: string;
  /** Goes out with whatever is answered; printable ASCII. */
  warning: string | undefined;

  readonly #res: HttpResponse;
  readonly #plan: ExchangePlan;
  #req: HttpRequest | null;
  #state: State = 'open';
  #detached = false;
  #headers: Map<string, string> | undefined;
  #params: Record<string, string> | undefined;
  #query: string | undefined;
  #clientAddress: string | undefined;
  #onAborted: (() => void) | undefined;
  /** Set once the body's listener is attached: what it does with a chunk. */
  #onChunk: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  #bodyPaused = false;
  /** An answer that was made elsewhere, while it is passed on; it is finished when it is whole, so that a drain waits for it. */
  #passed: PassedAnswer | undefined;
  #finish: (() => void) | undefined;

  constructor(res: HttpResponse, req: HttpRequest, plan: ExchangePlan) {
    this.#res = res;
    this.#req = req;
    this.#plan = plan;
    this.method = req.getCaseSensitiveMethod();
    this.origin = req.getHeader('origin');
    const given = req.getHeader(REQUEST_ID_HEADER);
    this.requestId = isSaneRequestId(given) ? given : randomUUID();
  }

  get interface(): Interface {
    return this.#plan.interface;
  }

  /** False once it was answered or the client has left. */
  get open(): boolean {
    return this.#state === 'open';
  }

  readonly header = (name: string): string => {
    if (this.#req !== null) return this.#req.getHeader(name);
    return this.#headers?.get(name) ?? '';
  };

  get params(): Readonly<Record<string, string>> {
    this.#params ??= readParameters(this.#req, this.#plan.parameters);
    return this.#params;
  }

  get query(): URLSearchParams {
    this.#query ??= this.#req?.getQuery() ?? '';
    return new URLSearchParams(this.#query);
  }

  get clientAddress(): string {
    this.#clientAddress ??= this.#state === 'over' ? '' : readClientAddress(this.#res, this.#req, this.#plan.trustProxy);
    return this.#clientAddress;
  }

  get address(): string {
    return addressKey(this.clientAddress);
  }

  /** To be called before the uWebSockets handler returns when the answer is still to come. Idempotent. */
  detach(): void {
    if (this.#detached || this.#state === 'over') return;
    this.#detached = true;
    this.#res.onAborted(() => this.#abort());
    const headers = new Map<string, string>();
    this.#req?.forEach((name, value) => {
      // As `getHeader` does: of several lines the first.
      if (!headers.has(name)) headers.set(name, value);
    });
    this.#headers = headers;
    this.#params ??= readParameters(this.#req, this.#plan.parameters);
    this.#query ??= this.#req?.getQuery() ?? '';
    this.#clientAddress = this.clientAddress;
    this.#req = null;
  }

  /** Path and query, and every header line, for passing the request on. Before `detach` only. */
  head(): { readonly target: string; readonly headers: HeaderLines } {
    const headers: [string, string][] = [];
    this.#req?.forEach((name, value) => {
      headers.push([name, value]);
    });
    const query = this.#req?.getQuery() ?? '';
    return { target: (this.#req?.getUrl() ?? '') + (query === '' ? '' : `?${query}`), headers };
  }

  /** Who sent the request and to which host, when another cell passed it on. Detaches. */
  comesFrom(clientAddress: string, host: string): void {
    this.detach();
    this.#clientAddress = clientAddress;
    this.#headers?.set('host', host);
  }

  /** Hands over the request's body as it arrives; a chunk is valid during the call only. A later listener takes over. Detaches. */
  receive(onChunk: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.detach();
    if (this.#state !== 'open') return;
    const attached = this.#onChunk !== undefined;
    this.#onChunk = onChunk;
    if (!attached) this.#res.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  /** Gives chunks that were received to the present listener again, before those that are still to come. */
  replay(chunks: readonly ArrayBuffer[], isWhole: boolean): void {
    for (const [at, chunk] of chunks.entries()) this.#take(chunk, isWhole && at === chunks.length - 1);
    this.resumeBody();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    // What arrives after a refusal is let go by unread.
    if (this.#state === 'open') this.#onChunk?.(chunk, isLast);
  }

  /** Lets the client wait with the rest of its body; what has been received already, half a megabyte at most, still comes. */
  pauseBody(): void {
    if (this.#state !== 'open' || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#res.pause();
  }

  /**
   * The body goes on to be read, however slowly it comes: uWebSockets ends connections that bring less than 16 KB a second, without an
   * answer, unless they are resumed now and then. For whoever judges the pace by rules of its own.
   */
  allowSlowBody(): void {
    if (this.#state !== 'open' || this.#bodyPaused) return;
    this.#res.pause();
    this.#res.resume();
  }

  resumeBody(): void {
    if (this.#state === 'over' || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#res.resume();
  }

  /** Called at once when the client leaves before the answer has ended. One listener; the last one counts. */
  whenAborted(listener: () => void): void {
    this.#onAborted = listener;
  }

  /** Answers and ends. Does nothing when the client has left or was answered. `null`: no body and no length. */
  respond(status: number, headers: Headers, body: string | Uint8Array | null): void {
    if (this.#state !== 'open') return;
    // The connection goes on with what the client still sends of this request.
    this.resumeBody();
    this.#state = 'over';
    const write = () => {
      this.#writeHead(status, headers);
      // The answer to HEAD has no body, whatever it says of one.
      if (body === null) this.#res.endWithoutBody();
      else this.#res.end(this.method === 'HEAD' ? '' : body, this.#plan.closing());
    };
    if (this.#detached) this.#res.cork(write);
    else write();
    this.#req = null;
    this.#plan.finished(status);
  }

  /** Opens an answer without an end; `first` goes out with the head, without it no byte of the head would. */
  beginStream(headers: Headers, first: string, onWritable: () => void): void {
    if (this.#state !== 'open') return;
    this.detach();
    this.#state = 'streaming';
    this.#res.onWritable(() => {
      onWritable();
      return true;
    });
    this.#res.cork(() => {
      this.#writeHead(200, headers);
      this.#res.write(first);
    });
    this.#plan.finished(200);
  }

  /** Runs `work` with all its writes going out as one; also an empty one flushes what is buffered. */
  cork(work: () => void): void {
    if (this.#state === 'streaming') this.#res.cork(work);
  }

  /** Writes to an open stream. False: the client reads too slowly, write no more until `onWritable`. */
  write(text: string): boolean {
    return this.#state === 'streaming' ? this.#res.write(text) : false;
  }

  /** Opens an answer that was made elsewhere. `bytes`: of its body, null when nobody knows. Undefined: the client has left. */
  beginPassing(status: number, headers: HeaderLines, bytes: number | null, onWritable: () => void): PassedAnswer | undefined {
    if (this.#state !== 'open') return undefined;
    this.detach();
    this.resumeBody();
    this.#state = 'streaming';
    this.#finish = () => {
      this.#state = 'over';
      this.#finish = undefined;
      this.#plan.finished(status);
    };
    this.#res.onWritable(() => {
      onWritable();
      return true;
    });
    this.#res.cork(() => {
      this.#writeHead(status, {});
      for (const [name, value] of headers) this.#res.writeHeader(name, value);
    });
    this.#passed = new PassedAnswer(this.#res, status, bytes, this.#finish);
    return this.#passed;
  }

  endStream(): void {
    if (this.#state !== 'streaming') return;
    this.#state = 'over';
    // Never with uWebSockets' flag to close: it writes a header, which would land in the middle of the chunks.
    this.#res.end();
  }

  /** Cuts the connection. The abort listener runs. */
  drop(): void {
    if (this.#state !== 'over') this.#res.close();
  }

  #abort(): void {
    if (this.#state === 'open') this.#plan.finished(CLIENT_LEFT);
    this.#passed?.left();
    this.#finish?.();
    this.#state = 'over';
    this.#onAborted?.();
  }

  #writeHead(status: number, headers: Headers): void {
    const res = this.#res;
    res.writeStatus(statusLine(status));
    res.writeHeader('X-Request-Id', this.requestId);
    for (const name in headers) res.writeHeader(name, headers[name] ?? '');
    if (this.warning !== undefined) res.writeHeader(WARNING_HEADER, this.warning);
    if (this.#plan.interface !== 'runtime') return;
    res.writeHeader('Vary', RUNTIME_VARY);
    // Refusals are readable by any page, so that its SDK can say what is wrong; anything else was refused before this line.
    if (this.origin === '') return;
    res.writeHeader('Access-Control-Allow-Origin', this.origin);
    res.writeHeader('Access-Control-Expose-Headers', CORS_EXPOSED_HEADERS);
  }
}
