/**
 * HTTP calls from cell to cell (CELL-7): the one place that knows how a cell is reached and how it proves to another
 * that it is one. The token is derived from the master key, which only the cells have.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { readCellUrl } from '../../storage/moving/cells.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

/** An idle connection is let go of well before the other side would close it (10 s): a request must not meet a closing one. */
const IDLE_MS = 5_000;
/** Idle connections kept per cell: what a burst of small requests needs again at once. */
const IDLE_SOCKETS_MAX = 64;
/** Longer answers are no answers of the cell interface, which are records of some hundred bytes. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** A cell that is not known, cannot be reached, or did not answer in time. */
export class CellUnreachable extends Error {
  readonly cell: string;

  constructor(cell: string, reason: string) {
    super(`cell ${cell} cannot be reached: ${reason}`);
    this.name = 'CellUnreachable';
    this.cell = cell;
  }
}

export interface CellAnswer {
  readonly status: number;
  /** Undefined when the answer was no JSON. */
  readonly json: unknown;
}

export interface CellClient {
  /**
   * One call of another cell's interface. A plain object travels as JSON, a Buffer or a Readable as it is. `timeoutMs`: how
   * long nothing may move, neither of a streamed body nor of the answer.
   * @throws CellUnreachable
   */
  call(
    cell: string,
    method: string,
    path: string,
    body: Buffer | Readable | object | undefined,
    options: { readonly timeoutMs: number; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<CellAnswer>;
  /** How the cell is reached; undefined when it was never seen. */
  url(cell: string): string | undefined;
  /** A request to the cell, not yet ended; the caller handles its `error`. @throws CellUnreachable for an unknown cell. */
  request(cell: string, method: string, path: string, headers: http.OutgoingHttpHeaders | readonly string[]): http.ClientRequest;
  /** Proves to a cell that the request comes from one. */
  readonly token: string;
  close(): void;
}

/** What a cell says as its bearer, made from the master key that all cells share. */
export function cellToken(vault: Pick<Vault, 'digest'>): string {
  return vault.digest('cell', Buffer.from('interface v1')).toString('base64url');
}

async function readJson(answer: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error(`it answered more than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** How the body travels: its bytes, or its stream, with the headers that say so. */
function payloadOf(body: Buffer | Readable | object | undefined) {
  if (body instanceof Readable) return { stream: body, headers: { 'Content-Type': 'application/octet-stream' } };
  if (body === undefined) return { bytes: Buffer.alloc(0), headers: {} };
  const [bytes, type] = Buffer.isBuffer(body)
    ? [body, 'application/octet-stream']
    : [Buffer.from(JSON.stringify(body)), 'application/json'];
  return { bytes, headers: { 'Content-Type': type, 'Content-Length': String(bytes.length) } };
}

/** Sends the body and settles with the answer. Whatever fails ends both. */
function exchange(request: http.ClientRequest, payload: ReturnType<typeof payloadOf>, timeoutMs: number): Promise<CellAnswer> {
  const { stream, bytes } = payload;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(new Error(`nothing moved for ${timeoutMs} ms`)), timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      stream?.destroy();
      request.destroy();
      reject(error);
    };
    request.on('error', fail);
    request.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      answer.on('data', () => timer.refresh());
      readJson(answer).then((json) => {
        clearTimeout(timer);
        // What it answered before it read the whole body stands; the rest is of no use to it.
        if (stream !== undefined && !stream.readableEnded) {
          stream.destroy();
          request.destroy();
        }
        resolve({ status, json });
      }, fail);
    });
    if (stream === undefined) {
      request.end(bytes);
      return;
    }
    stream.on('error', fail);
    stream.on('data', () => timer.refresh());
    stream.pipe(request);
  });
}

export function createCellClient({ vault, control }: { readonly vault: Pick<Vault, 'digest'>; readonly control: Connection }): CellClient {
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS_MAX, noDelay: true };
  const agents = { plain: new http.Agent(options), secure: new https.Agent(options) };
  const token = cellToken(vault);

  const client: CellClient = {
    token,
    url: (cell) => readCellUrl(control, cell),
    request(cell, method, path, headers) {
      const url = client.url(cell);
      if (url === undefined) throw new CellUnreachable(cell, 'it was never seen');
      const { protocol, hostname, port, pathname } = new URL(url);
      const secure = protocol === 'https:';
      return (secure ? https : http).request({
        method,
        // An IPv6 literal is written in brackets in an address, and without them when it is connected to.
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? (secure ? 443 : 80) : port,
        path: pathname.replace(/\/$/, '') + path,
        headers,
        agent: secure ? agents.secure : agents.plain,
      });
    },
    async call(cell, method, path, body, { timeoutMs, headers = {} }) {
      const payload = payloadOf(body);
      try {
        const request = client.request(cell, method, path, { ...payload.headers, ...headers, Authorization: `Bearer ${token}` });
        return await exchange(request, payload, timeoutMs);
      } catch (error) {
        if (error instanceof CellUnreachable) throw error;
        throw new CellUnreachable(cell, error instanceof Error ? error.message : String(error));
      }
    },
    close() {
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
  return client;
}
