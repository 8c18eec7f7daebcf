/**
 * One request and its answer. Owns the uWebSockets objects and keeps their laws for all other code: the request is read only until its handler
 * returns (`detach` copies what is needed later), an abort handler is attached before anything asynchronous, nothing touches the response
 * after an abort or the end, and late writes are corked.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../protocol/errors.ts';
import { isSaneRequestId, REQUEST_ID_HEADER, RUNTIME_VARY, WARNING_HEADER } from '../../protocol/headers.ts';
import { addressKey, type ProxyTrust, readClientAddress } from './client-address.ts';
import { CORS_EXPOSED_HEADERS } from './cors.ts';
import { HeadCopy, NO_HEAD, readParameters } from './head-copy.ts';
import type { Interface } from './interface.ts';
import { hasRoomInTick } from './loop-tick.ts';
import { PassedAnswer, sendWhole } from './passed-answer.ts';

const statusLines = new Map<number, string>();

export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}

export interface ExchangePlan {
  readonly interface: Interface;
  readonly parameters: readonly string[];
  readonly trustProxy: ProxyTrust | undefined;
  /** True: the answer asks the client to close the connection. */
  closing(): boolean;
  /** The connection is cut behind the answer, so that nothing that follows is read as a request. For short answers. */
  readonly cuts?: true;
  /** Called once per exchange: with its status, or 499 when the client left before it had one, and how long that took. */
  finished(status: number, ms: number): void;
  /** Called for each refusal that is sent, in a stream as well. */
  refused(code: ErrorCode): void;
}

export type Headers = Readonly<Record<string, string>>;
/** As they are written, a name perhaps more than once. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** Stands for the listener of a body that has come whole. */
const NO_LISTENER = (): void => {};

/** nginx's status for "client closed request": seen in metrics only. */
const CLIENT_LEFT = 499;

/** Never back: not begun; still to leave; open stream; on its way; ended or left. Finished means whole, so that a drain waits for it. */
type Answer = 'due' | 'made' | 'stream' | PassedAnswer | 'over';

export class Exchange {
  readonly requestId: string;
  readonly method: string;
  /** The `Origin` header, '' when the caller is no browser. */
  readonly origin: string;
  /** Goes out with whatever is answered; printable ASCII. */
  warning: string | undefined;
  /** Makes a header that goes out with whatever is answered. */
  proof: ((status: number, headers: Headers) => readonly [name: string, value: string]) | undefined;
  /** Another cell has checked that the caller is an operator. */
  isOperator = false;

  readonly #begunMs = performance.now();
  readonly #res: HttpResponse;
  readonly #plan: ExchangePlan;
  /** Lent by uWebSockets within its callback, a copy from `detach` or the answer on. */
  #head: HttpRequest | HeadCopy;
  #answer: Answer = 'due';
  /** Read when first asked for, by `detach` at the latest. */
  #params: Readonly<Record<string, string>> | undefined;
  #clientAddress: string | undefined;
  #onAborted: (() => void) | undefined;
  /** What the body's listener does with a chunk; undefined until it is attached. */
  #onChunk: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  #bodyPaused = false;

  constructor(res: HttpResponse, req: HttpRequest, plan: ExchangePlan) {
    this.#res = res;
    this.#head = req;
    this.#plan = plan;
    this.method = req.getCaseSensitiveMethod();
    this.origin = req.getHeader('origin');
    const given = req.getHeader(REQUEST_ID_HEADER);
    this.requestId = isSaneRequestId(given) ? given : randomUUID();
  }

  get interface(): Interface {
    return this.#plan.interface;
  }

  get open(): boolean {
    return this.#answer === 'due';
  }

  readonly header = (name: string): string => this.#head.getHeader(name);

  get params(): Readonly<Record<string, string>> {
    this.#params ??= this.#head instanceof HeadCopy ? {} : readParameters(this.#head, this.#plan.parameters);
    return this.#params;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#head.getQuery());
  }

  get clientAddress(): string {
    this.#clientAddress ??= this.#head instanceof HeadCopy ? '' : readClientAddress(this.#res, this.#head, this.#plan.trustProxy);
    return this.#clientAddress;
  }

  get address(): string {
    return addressKey(this.clientAddress);
  }

  /** Call it before the uWebSockets handler returns when the answer is still to come. Idempotent. */
  detach(): void {
    this.#detached();
  }

  #detached(): HeadCopy {
    const lent = this.#head;
    if (lent instanceof HeadCopy) return lent;
    this.#res.onAborted(() => this.#abort());
    this.#params ??= readParameters(lent, this.#plan.parameters);
    this.#clientAddress ??= readClientAddress(this.#res, lent, this.#plan.trustProxy);
    const copy = HeadCopy.of(lent);
    this.#head = copy;
    return copy;
  }

  /** Path and query. @throws Error after `detach` */
  get target(): string {
    const lent = this.#lent();
    const query = lent.getQuery() ?? '';
    return lent.getUrl() + (query === '' ? '' : `?${query}`);
  }

  #lent(): HttpRequest {
    if (this.#head instanceof HeadCopy) throw new Error('the head of a request was asked for after its callback');
    return this.#head;
  }

  /** Every header line, for passing the request on. @throws Error after `detach`: repeated lines are not copied. */
  headerLines(): HeaderLines {
    const lent = this.#lent();
    const headers: [string, string][] = [];
    lent.forEach((name, value) => {
      headers.push([name, value]);
    });
    return headers;
  }

  /** Sets who sent the request and to which host, when another cell passed it on, which may have checked that it is an operator. Detaches. */
  comesFrom(clientAddress: string, host: string, isOperator: boolean): void {
    this.#head = this.#detached().withHost(host);
    this.#clientAddress = clientAddress;
    this.isOperator = isOperator;
  }

  /** Hands over the request's body as it arrives; a chunk is valid during the call only. A later listener takes over. Detaches. */
  receive(onChunk: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.detach();
    if (this.#answer !== 'due') return;
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
    const onChunk = this.#onChunk;
    // Whoever took the body holds the request, and a stream would hold both for as long as it is open.
    if (isLast) this.#onChunk = NO_LISTENER;
    // What arrives after a refusal is dropped unread.
    if (this.#answer === 'due') onChunk?.(chunk, isLast);
  }

  /** Makes the client wait with the rest of its body. What has been received already, half a megabyte at most, still comes. */
  pauseBody(): void {
    if (this.#answer !== 'due' || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#res.pause();
  }

  /** uWebSockets ends connections that bring less than 16 KB a second unless resumed. For callers that judge the pace themselves. */
  allowSlowBody(): void {
    if (this.#answer !== 'due' || this.#bodyPaused) return;
    this.#res.pause();
    this.#res.resume();
  }

  resumeBody(): void {
    if (this.#answer === 'over' || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#res.resume();
  }

  /** Called at once when the client leaves before the answer has ended. One listener; the last one counts. */
  whenAborted(listener: () => void): void {
    this.#onAborted = listener;
  }

  /** Counts a refusal that goes out next; one that nobody gets is none. */
  refused(code: ErrorCode): void {
    if (this.#answer === 'due' || this.#answer === 'stream') this.#plan.refused(code);
  }

  /** Does nothing when the client has left or was answered. HEAD gets the length of `body` alone; `null`: no body and no length. */
  respond(status: number, headers: Headers, body: string | Uint8Array | null): void {
    if (this.#answer !== 'due') return;
    // So that the connection takes what the client still sends of this request.
    this.resumeBody();
    this.#answer = 'made';
    // One that was detached may still be answered within the tick of its request.
    if (hasRoomInTick()) {
      this.#leave(status, headers, body);
      return;
    }
    this.#outlive();
    setImmediate(() => this.#leave(status, headers, body));
  }

  /** Lets the response be used after its callback, in which nobody asks for the head any more. */
  #outlive(): void {
    if (this.#head instanceof HeadCopy) return;
    this.#head = NO_HEAD;
    this.#res.onAborted(() => this.#abort());
  }

  #leave(status: number, headers: Headers, body: string | Uint8Array | null): void {
    if (this.#answer !== 'made') return;
    // Within the callback, too: an answer that was too long for uWebSockets' own cork has ended it for those behind.
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      if (this.#send(status, body)) this.#ended(status);
      else this.#outlive();
    });
    this.#head = NO_HEAD;
  }

  #send(status: number, body: string | Uint8Array | null): boolean {
    const isHead = this.method === 'HEAD';
    if (body === null) this.#res.endWithoutBody();
    else if (this.#plan.cuts) this.#res.end(isHead ? '' : body, true);
    else {
      const passed = sendWhole(this.#res, status, body, isHead, () => this.#ended(status));
      this.#answer = passed ?? 'over';
      return passed === undefined;
    }
    return true;
  }

  #ended(status: number, answer: 'over' | 'stream' = 'over'): void {
    this.#answer = answer;
    this.#plan.finished(status, performance.now() - this.#begunMs);
  }

  /** Opens an answer without an end. `first` goes out with the head: without a byte of the body uWebSockets would keep the head back. */
  beginStream(headers: Headers, first: string, onWritable: () => void): void {
    if (this.#answer !== 'due') return;
    this.#answer = 'stream';
    this.#begin(onWritable, () => {
      this.#writeHead(200, headers);
      this.#res.write(first);
    });
    // A stream may be open for minutes, and nobody asks for the request's headers any more.
    this.#head = NO_HEAD;
    this.#ended(200, 'stream');
  }

  /** Runs `work` with all its writes going out as one. Empty work flushes what is buffered. */
  cork(work: () => void): void {
    if (this.#answer === 'stream') this.#res.cork(work);
  }

  /** Writes to an open stream. False: the client reads too slowly, write no more until `onWritable`. */
  write(text: string): boolean {
    return this.#answer === 'stream' ? this.#res.write(text) : false;
  }

  /** Opens an answer that another cell makes. `bytes`: length of its body, null when it is not known. Undefined: the client has left. */
  beginPassing(status: number, headers: HeaderLines, bytes: number | null, onWritable: () => void): PassedAnswer | undefined {
    if (this.#answer !== 'due') return undefined;
    this.resumeBody();
    const passed = new PassedAnswer(this.#res, status, bytes, () => this.#ended(status));
    this.#answer = passed;
    this.#begin(onWritable, () => {
      this.#writeHead(status, {});
      for (const [name, value] of headers) this.#res.writeHeader(name, value);
    });
    return passed;
  }

  #begin(onWritable: () => void, write: () => void): void {
    this.detach();
    this.#res.onWritable(() => {
      onWritable();
      return true;
    });
    this.#res.cork(write);
  }

  endStream(): void {
    if (this.#answer !== 'stream') return;
    this.#answer = 'over';
    // Never with uWebSockets' flag to close: it writes a header, which would land in the middle of the chunks.
    this.#res.end();
  }

  drop(): void {
    if (this.#answer !== 'over') this.#res.close();
  }

  #abort(): void {
    const answer = this.#answer;
    this.#answer = 'over';
    if (answer === 'due' || answer === 'made') this.#ended(CLIENT_LEFT);
    else if (answer instanceof PassedAnswer) answer.abort();
    this.#onAborted?.();
  }

  #writeHead(status: number, headers: Headers): void {
    const res = this.#res;
    res.writeStatus(statusLine(status));
    res.writeHeader('X-Request-Id', this.requestId);
    for (const name in headers) res.writeHeader(name, headers[name] ?? '');
    if (this.warning !== undefined) res.writeHeader(WARNING_HEADER, this.warning);
    if (this.proof !== undefined) res.writeHeader(...this.proof(status, headers));
    if (this.#plan.closing()) res.writeHeader('Connection', 'close');
    if (this.#plan.interface !== 'runtime') return;
    res.writeHeader('Vary', RUNTIME_VARY);
    // Any page may read a refusal, so that its SDK can say what is wrong. Origins that are not allowed get nothing else.
    if (this.origin === '') return;
    res.writeHeader('Access-Control-Allow-Origin', this.origin);
    res.writeHeader('Access-Control-Expose-Headers', CORS_EXPOSED_HEADERS);
  }
}
