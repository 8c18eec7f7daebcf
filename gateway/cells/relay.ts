/**
 * Relays a request to the cell that has its organisation, and that cell's answer back, byte by byte (CELL-2). Neither is collected: each
 * side is read as fast as the other one takes it. A client that leaves ends the request; an answer that breaks off breaks off for the
 * client too. The other cell checks the caller by its own rules.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CellUnreachable } from '../../actors/cells/cell-client.ts';
import { CELL_HEADER_PREFIX, CELL_HEADERS, OPERATOR, statementHeaders, UNPROVEN } from '../../actors/cells/cell-proof.ts';
import type { Cells } from '../../actors/cells/cells.ts';
import type { Whereabouts } from '../../actors/cells/directory.ts';
import { REQUEST_ID_HEADER } from '../../protocol/headers.ts';
import type { Exchange, HeaderLines } from '../http/exchange.ts';
import type { PassedAnswer } from '../http/passed-answer.ts';
import { readMiss } from './access.ts';

/** A body is kept up to this size; a larger one can be forwarded once only. */
const KEPT_MAX_BYTES = 64 * 1024;

/**
 * The body of a request while the cell that answers it is not known for certain. Reads it from the client as it arrives and forwards it
 * at the cell's pace. Keeps a small one, so that it can go to another cell or be read here after all.
 */
export class BufferedBody {
  readonly #exchange: Exchange;
  /** Null once a larger part was forwarded. */
  #kept: ArrayBuffer[] | null = [];
  #keptBytes = 0;
  #whole = false;
  #sink: ClientRequest | undefined;

  /** Only within the handler of the request: uWebSockets delivers a body to no later listener. */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.receive((chunk, isLast) => this.#take(chunk.slice(0), isLast));
  }

  /** Forwards what has arrived and what is still to come. False: part of it is gone already. */
  flowInto(sink: ClientRequest): boolean {
    if (this.#kept === null) return false;
    this.#sink = sink;
    sink.on('drain', () => {
      if (this.#sink === sink) this.#exchange.resumeBody();
    });
    const waiting = this.#kept;
    this.#trim();
    let room = true;
    for (const chunk of waiting) room = sink.write(Buffer.from(chunk));
    if (this.#whole) sink.end();
    else if (room) this.#exchange.resumeBody();
    return true;
  }

  /** Stops forwarding to this cell and pauses the client. */
  halt(sink: ClientRequest): void {
    if (this.#sink !== sink) return;
    this.#sink = undefined;
    if (!this.#whole) this.#exchange.pauseBody();
  }

  /** Gives the body to the exchange's new listener; nothing of it may have been forwarded. */
  giveBack(): void {
    const kept = this.#kept ?? [];
    this.#kept = null;
    this.#exchange.replay(kept, this.#whole);
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#whole = isLast;
    this.#kept?.push(chunk);
    this.#keptBytes += chunk.byteLength;
    const sink = this.#sink;
    if (sink === undefined) {
      if (!isLast) this.#exchange.pauseBody();
      return;
    }
    this.#trim();
    const room = sink.write(Buffer.from(chunk));
    if (isLast) sink.end();
    else if (!room) this.#exchange.pauseBody();
  }

  #trim(): void {
    if (this.#keptBytes > KEPT_MAX_BYTES) this.#kept = null;
  }
}

/** Headers of one connection, not of the message (RFC 9110 §7.6.1). `expect` is answered here. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
/** This cell writes these itself, and they may occur once only. */
const WRITTEN_HERE: ReadonlySet<string> = new Set(['content-length', 'date', 'uwebsockets', REQUEST_ID_HEADER]);
const WRITTEN_HERE_FOR_BROWSERS: ReadonlySet<string> = new Set(['vary', 'access-control-allow-origin', 'access-control-expose-headers']);
/** Within a network a connection opens quickly or not at all. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Smoke runs take minutes and send nothing before they end. */
const ANSWER_TIMEOUT_MS = 10 * 60_000;
/** A client that takes nothing for this long is dropped, as with streams of this cell. */
const STUCK_MS = 10_000;
/** Bytes sent to learn whether a slow client takes more: uWebSockets buffers what it cannot send. */
const PROBE_BYTES = 256;

/** A request to forward. */
export interface Passage {
  readonly exchange: Exchange;
  /** Path and query. */
  readonly target: string;
  readonly headers: HeaderLines;
  /** Whose credentials stay here: this cell vouches for them. */
  readonly isOperator: boolean;
  /** Null: a GET, which has none. */
  readonly body: BufferedBody | null;
}

/** `answered`, also when the client left; `missed`: the organisation is not there, and nothing was answered. */
export type Relayed = { readonly kind: 'answered' } | { readonly kind: 'missed'; readonly told: Whereabouts | undefined };

/** Header names that a Connection header limits to this connection. */
function namedInConnection(headers: HeaderLines): ReadonlySet<string> {
  const lines = headers.filter(([name]) => name.toLowerCase() === 'connection');
  return new Set(lines.flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase())));
}

/** Characters that no header may have (RFC 9110 §5.5): this service reads over them, and Node sends none. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
const NO_FIELD_CHARS = /[\0-\x08\x0a-\x1f\x7f]/g;

const VISIBLE = /^[\x21-\x7e]*$/;
/** uWebSockets leaves a request with over 99 lines, or 16 KB of them, unanswered: with those of a cell a client's must stay below. */
const LINES_MAX = 80;
const HEAD_MAX_BYTES = 12 * 1024;

/** Whether the other cell can read the head of this request with what is added to it here. */
export function isPassable(target: string, headers: HeaderLines): boolean {
  const chars = headers.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 4, escaped(target).length);
  return headers.length <= LINES_MAX && chars <= HEAD_MAX_BYTES;
}

/** What a client wrote bare goes on escaped, which says the same (RFC 3986 §2.1). */
function escaped(target: string): string {
  return target.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
}

/** What an operator proves itself by. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'x-csrf-token']);

function requestHeaders(
  { exchange, target, headers, body, isOperator }: Passage,
  to: Whereabouts,
  cells: Cells,
): Record<string, string | string[]> {
  const dropped = namedInConnection(headers);
  const host = exchange.header('host');
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const isOurs = name === 'host' || name === REQUEST_ID_HEADER || name.startsWith(CELL_HEADER_PREFIX);
    if (
      isOurs ||
      (isOperator && CREDENTIALS.has(name)) ||
      HOP_BY_HOP.has(name) ||
      dropped.has(name) ||
      (body === null && name === 'content-length')
    )
      continue;
    const before = passed[name];
    const bytes = Buffer.from(value, 'utf8').toString('latin1').replaceAll(NO_FIELD_CHARS, ' ');
    passed[name] = before === undefined ? bytes : [before, bytes].flat();
  }
  return {
    ...passed,
    [REQUEST_ID_HEADER]: exchange.requestId,
    ...statementHeaders(
      {
        method: exchange.method,
        target,
        from: cells.self.id,
        to: to.cell,
        organisationId: to.organisationId,
        clientAddress: exchange.clientAddress,
        // What Node would write in other bytes could not be proven.
        clientHost: VISIBLE.test(host) ? host : '',
        vouchedFor: isOperator ? OPERATOR : '',
      },
      cells.client.proofs,
    ),
  };
}

function answerHeaders(answer: IncomingMessage, exchange: Exchange): HeaderLines {
  const raw = answer.rawHeaders;
  const lines: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) lines.push([raw[at] as string, raw[at + 1] as string]);
  const dropped = namedInConnection(lines);
  return lines.filter(([given]) => {
    const name = given.toLowerCase();
    if (HOP_BY_HOP.has(name) || WRITTEN_HERE.has(name) || dropped.has(name) || name.startsWith(CELL_HEADER_PREFIX)) return false;
    return exchange.interface !== 'runtime' || !WRITTEN_HERE_FOR_BROWSERS.has(name);
  });
}

/** The other cell's answer on its way to the client. */
class AnswerPump {
  readonly #answer: IncomingMessage;
  readonly #passed: PassedAnswer | undefined;
  /** What the client has not taken yet: less than 64 KB, one piece of the other cell's answer. */
  #rest: Buffer | undefined;
  /** True after uWebSockets buffered something that it may not have sent yet. */
  #doubtful = false;
  #stuck: NodeJS.Timeout | undefined;

  constructor(exchange: Exchange, answer: IncomingMessage) {
    this.#answer = answer;
    const length = answer.headers['content-length'];
    const status = answer.statusCode ?? 502;
    const bytes = status === 204 || status === 304 ? 0 : length === undefined ? null : Number(length);
    const passed = exchange.beginPassing(status, answerHeaders(answer, exchange), bytes, () => this.#writable());
    this.#passed = passed;
    answer.on('data', (chunk: Buffer) => this.#pass(chunk));
    answer.on('end', () => {
      // An answer with a length ends with its last byte, which may still wait for the client.
      if (bytes === null || bytes === 0) passed?.end();
    });
    answer.on('error', () => passed?.drop());
    answer.on('close', () => {
      if (!answer.complete) passed?.drop();
    });
  }

  /** The client has left. */
  stop(): void {
    clearTimeout(this.#stuck);
    this.#answer.destroy();
  }

  #pass(chunk: Buffer): void {
    this.#passed?.cork(() => this.#tryPass(chunk));
  }

  #tryPass(chunk: Buffer): void {
    const passed = this.#passed;
    if (passed === undefined) return;
    let rest = chunk;
    if (this.#doubtful && rest.length > PROBE_BYTES) {
      const { taken, room } = passed.pass(rest.subarray(0, PROBE_BYTES));
      rest = rest.subarray(taken);
      if (!room) {
        this.#wait(rest);
        return;
      }
    }
    this.#doubtful = false;
    const { taken, room } = passed.pass(rest);
    if (room) this.#goOn();
    else this.#wait(rest.subarray(taken));
  }

  #wait(rest: Buffer): void {
    this.#rest = rest.length === 0 ? undefined : rest;
    this.#doubtful = true;
    this.#answer.pause();
    this.#stuck ??= setTimeout(() => this.#passed?.drop(), STUCK_MS).unref();
  }

  #goOn(): void {
    this.#rest = undefined;
    clearTimeout(this.#stuck);
    this.#stuck = undefined;
    if (this.#answer.isPaused()) this.#answer.resume();
  }

  #writable(): void {
    // It took something, be it not all: it is slow, not stuck.
    this.#stuck?.refresh();
    const rest = this.#rest;
    if (rest !== undefined) {
      this.#pass(rest);
      return;
    }
    // Sends what is buffered; the next piece tells whether that was all.
    this.#passed?.cork(() => {});
    if (this.#answer.isPaused()) this.#answer.resume();
  }
}

function watchConnecting(request: ClientRequest): void {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)), CONNECT_TIMEOUT_MS);
    const settled = () => clearTimeout(timer);
    socket.once('connect', settled).once('close', settled);
  });
}

/** @throws CellUnreachable when the cell is away, or broke off before it answered anything. */
export async function relay(passage: Passage, to: Whereabouts, cells: Cells): Promise<Relayed> {
  const { exchange, body } = passage;
  const target = escaped(passage.target);
  const headers = requestHeaders({ ...passage, target }, to, cells);
  const request = await cells.client.pass(to.cell, exchange.method, target, headers);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => request.destroy(new Error('no answer came')), ANSWER_TIMEOUT_MS).unref();
    const settle = (outcome: Relayed) => {
      clearTimeout(late);
      resolve(outcome);
    };
    let pump: AnswerPump | undefined;
    exchange.whenAborted(() => {
      pump?.stop();
      request.destroy();
      settle({ kind: 'answered' });
    });
    watchConnecting(request);
    request.on('error', (error) => {
      clearTimeout(late);
      body?.halt(request);
      // Once the answer has begun, its own end tells.
      reject(new CellUnreachable(to.cell, error.message));
    });
    request.on('response', (answer) => {
      if (!cells.client.proofs.proves(answer, headers[CELL_HEADERS.token])) {
        request.destroy(new Error(UNPROVEN));
        return;
      }
      // It answers before it has read everything: the rest is dropped.
      const unread = !request.writableEnded;
      answer.once('close', () => unread && request.destroy());
      const miss = answer.headers[CELL_HEADERS.miss];
      if (miss === undefined) {
        pump = new AnswerPump(exchange, answer);
        settle({ kind: 'answered' });
        return;
      }
      body?.halt(request);
      answer.resume();
      settle({ kind: 'missed', told: readMiss(String(miss), to.organisationId) });
    });
    if (body === null) request.end();
    else if (!body.flowInto(request)) request.destroy(new Error('part of the body is gone'));
  });
}
