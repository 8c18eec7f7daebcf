/**
 * Owns the keep-alive connections to the service, with one request at a time on each. Node sockets with a response scanner of our own,
 * because one process has to hold 10,000 slow streams: they take 17 µs of CPU an event where undici takes 28 (docs/load-testing.md). All
 * sockets read into one shared buffer, so that an idle stream needs no buffer of its own.
 */
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AnswerHead, AnswerScanner, NotHttp } from './answer-scanner.ts';
import type { Failure } from './failure.ts';

/** Shared by all connections: the bytes of a read are processed before the next read. */
const READ = Buffer.alloc(256 * 1024);
/** A service that accepts no connection within this time counts as down. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface Listener {
  head(head: AnswerHead): void;
  body(bytes: Uint8Array): void;
  end(): void;
  /** The request failed; no further call follows. */
  failed(failure: Failure): void;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Relative to the base URL of the service. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Exchange {
  /** Time of the last byte received, or of sending, by `performance.now()`. */
  readonly lastByteMs: number;
  cut(): void;
}

class Connection implements Exchange {
  readonly socket: Socket;
  #connections: Connections;
  #listener: Listener | undefined;
  #scanner: AnswerScanner | undefined;
  #connecting: NodeJS.Timeout | undefined;
  lastByteMs = performance.now();

  constructor(connections: Connections, url: URL) {
    this.#connections = connections;
    const isTls = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const take = (length: number): boolean => {
      this.#take(READ.subarray(0, length));
      return true;
    };
    const to = { host, port: Number(url.port || (isTls ? 443 : 80)), onread: { buffer: READ, callback: take } };
    // TLS allows no IP address as server name.
    this.socket = isTls
      ? connectTls({ ...to, ALPNProtocols: ['http/1.1'], ...(/[:]|^[\d.]+$/.test(host) ? {} : { servername: host }) })
      : createConnection(to);
    this.socket.setNoDelay(true);
    this.#connecting = setTimeout(
      () => this.#fail({ code: 'ETIMEDOUT', message: `no connection within ${CONNECT_TIMEOUT_MS / 1_000} s` }),
      CONNECT_TIMEOUT_MS,
    );
    this.socket.once(isTls ? 'secureConnect' : 'connect', () => this.#connected());
    this.socket.on('error', (error: NodeJS.ErrnoException) => this.#fail({ code: error.code ?? 'error', message: error.message }));
    this.socket.once('close', () => this.#closed());
  }

  send(head: string, listener: Listener): void {
    this.#listener = listener;
    this.lastByteMs = performance.now();
    this.#scanner = new AnswerScanner({
      head: (answer) => listener.head(answer),
      body: (bytes) => listener.body(bytes),
      end: (mayGoOn) => this.#ended(mayGoOn),
    });
    this.socket.write(head);
  }

  cut(): void {
    this.#listener = undefined;
    this.#close();
  }

  #connected(): void {
    clearTimeout(this.#connecting);
    this.#connecting = undefined;
  }

  #close(): void {
    clearTimeout(this.#connecting);
    this.#connections.gone(this);
    this.socket.destroy();
  }

  #take(bytes: Uint8Array): void {
    this.lastByteMs = performance.now();
    if (this.#listener === undefined) {
      // Bytes without a request.
      this.#close();
      return;
    }
    try {
      this.#scanner?.push(bytes);
    } catch (error) {
      const { message } = error as Error;
      this.#fail(error instanceof NotHttp ? { code: 'not_http', message } : { code: 'load_tester_fault', message });
    }
  }

  #ended(mayGoOn: boolean): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#scanner = undefined;
    if (mayGoOn && listener !== undefined) this.#connections.free(this);
    else this.#close();
    listener?.end();
  }

  #closed(): void {
    this.#connections.gone(this);
    clearTimeout(this.#connecting);
    if (this.#listener === undefined || this.#scanner?.closed()) return;
    const where = this.#scanner?.hasBegun ? 'within the answer' : 'before an answer';
    this.#fail({ code: this.#scanner?.hasBegun ? 'cut' : 'closed', message: `the connection was closed ${where}` });
  }

  #fail(failure: Failure): void {
    const listener = this.#listener;
    this.#listener = undefined;
    const isWithin = this.#scanner?.hasBegun === true && failure.code !== 'not_http';
    this.#close();
    // Whatever the error code, the response was cut off.
    listener?.failed(isWithin ? { code: 'cut', message: failure.message } : failure);
  }
}

export class Connections {
  readonly #url: URL;
  readonly #all = new Set<Connection>();
  /** Idle connections, the most recently used last. */
  readonly #free: Connection[] = [];

  constructor(url: URL) {
    this.#url = url;
  }

  get open(): number {
    return this.#all.size;
  }

  send(request: Request, listener: Listener): Exchange {
    const text = this.#text(request);
    const free = this.#free.pop();
    if (free === undefined) return this.#sendAnew(text, listener);
    // The other side may close an idle connection just as the request is sent. It was not read then, and is sent again.
    let again: Exchange | undefined;
    free.send(text, {
      ...bound(listener),
      failed: (failure) => {
        if (failure.code === 'cut' || failure.code === 'not_http' || failure.code === 'load_tester_fault') listener.failed(failure);
        else again = this.#sendAnew(text, listener);
      },
    });
    return {
      get lastByteMs() {
        return (again ?? free).lastByteMs;
      },
      cut: () => (again ?? free).cut(),
    };
  }

  close(): void {
    for (const connection of [...this.#all]) connection.cut();
  }

  free(connection: Connection): void {
    this.#free.push(connection);
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
  }

  #sendAnew(text: string, listener: Listener): Exchange {
    const connection = new Connection(this, this.#url);
    this.#all.add(connection);
    connection.send(text, listener);
    return connection;
  }

  #text({ method, path, headers, body }: Request): string {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return `${method} ${this.#url.pathname.replace(/\/$/, '')}${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\n${lines.join('')}${length}\r\n${body ?? ''}`;
  }
}

function bound(listener: Listener): Listener {
  return {
    head: (head) => listener.head(head),
    body: (bytes) => listener.body(bytes),
    end: () => listener.end(),
    failed: (failure) => listener.failed(failure),
  };
}
