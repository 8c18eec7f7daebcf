/**
 * One request and its answer. Owns the uWebSockets objects and keeps their laws for everybody else:
 * the request is read only until its handler returns (what is needed later is copied by `detach`), an abort handler is
 * attached before anything asynchronous, nothing touches the response after an abort or the end, late writes are corked.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { CORS_EXPOSED_HEADERS, isSaneRequestId, REQUEST_ID_HEADER, RUNTIME_VARY } from '../protocol/headers.ts';
import type { CallerKind, Callers, UploadedFile } from './route.ts';

/** Whose words errors are told in, and whether browsers of other origins are among the callers. */
export type Interface = 'runtime' | 'console' | 'setup' | 'service';

/** What of the route an exchange needs; made once per route. */
export interface ExchangePlan {
  readonly interface: Interface;
  /** Names of the path's parameters in their order. */
  readonly parameters: readonly string[];
  /** Connections are closed after their answer when this says true. */
  closing(): boolean;
  /** Called once per exchange: with its status, or 499 when the client left before it had one. */
  finished(status: number): void;
}

export type Headers = Readonly<Record<string, string>>;

/** nginx's number for "client closed request": seen in metrics only. */
const CLIENT_LEFT = 499;

type State = 'open' | 'streaming' | 'over';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed escapes name nothing that exists; the handler answers as for any unknown id.
    return part;
  }
}

export class Exchange {
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** The `Origin` header, '' when the caller is no browser. */
  readonly origin: string;
  /** Set by the dispatcher before a route's handler sees this as its input. */
  caller: Callers[CallerKind] = null;
  body: unknown = null;
  upload: UploadedFile | null = null;

  readonly #res: HttpResponse;
  readonly #plan: ExchangePlan;
  #req: HttpRequest | null;
  #state: State = 'open';
  #detached = false;
  #headers: Map<string, string> | undefined;
  #params: Record<string, string> | undefined;
  #query: string | undefined;
  #remoteAddress: string | undefined;
  #onAborted: (() => void) | undefined;

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
    this.#params ??= this.#readParams();
    return this.#params;
  }

  get query(): URLSearchParams {
    this.#query ??= this.#req?.getQuery() ?? '';
    return new URLSearchParams(this.#query);
  }

  get remoteAddress(): string {
    this.#remoteAddress ??= this.#state === 'over' ? '' : Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
    return this.#remoteAddress;
  }

  /** To be called before the uWebSockets handler returns when the answer is still to come. Idempotent. */
  detach(): void {
    if (this.#detached || this.#state === 'over') return;
    this.#detached = true;
    this.#res.onAborted(() => this.#abort());
    const headers = new Map<string, string>();
    this.#req?.forEach((name, value) => {
      headers.set(name, value);
    });
    this.#headers = headers;
    this.#params ??= this.#readParams();
    this.#query ??= this.#req?.getQuery() ?? '';
    this.#remoteAddress = this.remoteAddress;
    this.#req = null;
  }

  /** Hands over the request's body as it arrives; a chunk is valid during the call only. Detaches. */
  receive(onChunk: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.detach();
    if (this.#state !== 'open') return;
    this.#res.onData((chunk, isLast) => {
      // What arrives after a refusal is let go by unread.
      if (this.#state === 'open') onChunk(chunk, isLast);
    });
  }

  /** Called at once when the client leaves before the answer has ended. One listener; the last one counts. */
  whenAborted(listener: () => void): void {
    this.#onAborted = listener;
  }

  /** Answers and ends. Does nothing when the client has left or was answered. `null`: no body and no length. */
  respond(status: number, headers: Headers, body: string | Uint8Array | null): void {
    if (this.#state !== 'open') return;
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
    this.#state = 'over';
    this.#onAborted?.();
  }

  #readParams(): Record<string, string> {
    const params: Record<string, string> = {};
    this.#plan.parameters.forEach((name, index) => {
      params[name] = decoded(this.#req?.getParameter(index) ?? '');
    });
    return params;
  }

  #writeHead(status: number, headers: Headers): void {
    const res = this.#res;
    res.writeStatus(statusLine(status));
    res.writeHeader('X-Request-Id', this.requestId);
    for (const name in headers) res.writeHeader(name, headers[name] ?? '');
    if (this.#plan.interface !== 'runtime') return;
    res.writeHeader('Vary', RUNTIME_VARY);
    // Refusals are readable by any page, so that its SDK can say what is wrong; anything else was refused before this line.
    if (this.origin === '') return;
    res.writeHeader('Access-Control-Allow-Origin', this.origin);
    res.writeHeader('Access-Control-Expose-Headers', CORS_EXPOSED_HEADERS);
  }
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}
