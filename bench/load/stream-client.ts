/**
 * A client that reads streams event by event and says when each came, by this process's clock. It owns one connection, with one answer
 * at a time, and is light enough for a thousand of them in one process: it looks at lines and knows just as much of HTTP as it meets.
 */
import { randomBytes } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';
import { CLIENT } from '../servers/service.ts';

export interface StreamEvent {
  readonly seq: number;
  readonly type: string;
  /** Its JSON. */
  readonly data: string;
  /** When the read came that brought its last line, as `performance.now()` says it. */
  readonly atMs: number;
}

/** One for all connections: what a read brought is taken out of it before the next one. */
const READ = Buffer.alloc(256 * 1024);
/** Line of the chunk that ends a body. */
const LAST_CHUNK = '0';
const REFUSAL_SHOWN_CHARS = 1_000;

interface Answer {
  readonly onEvent: (event: StreamEvent) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  seq: number;
  type: string;
}

export class StreamClient {
  readonly #port: number;
  #socket: Socket | undefined;
  #answer: Answer | undefined;
  /** The unfinished line of the last read. */
  #rest = '';

  constructor(port: number) {
    this.#port = port;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    const take = (length: number): boolean => {
      this.#take(READ.toString('latin1', 0, length), performance.now());
      return true;
    };
    const socket = createConnection({ port: this.#port, host: '127.0.0.1', onread: { buffer: READ, callback: take } });
    socket.setNoDelay(true);
    socket.once('error', (error) => this.#fail(socket, error.message));
    socket.once('close', () => this.#fail(socket, 'the connection was closed'));
    return socket;
  }

  /** Sends a request and tells the events of its answer; resolves at its end. @throws when it is not 200, or cut off. */
  read(request: string, onEvent: (event: StreamEvent) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answer = { onEvent, resolve, reject, seq: -1, type: '' };
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#answer = undefined;
    this.#socket?.destroy();
  }

  /** The next request gets a connection of its own. */
  #fail(socket: Socket | undefined, why: string): void {
    if (socket !== this.#socket) return;
    const answer = this.#answer;
    this.#answer = undefined;
    this.#socket = undefined;
    this.#rest = '';
    socket?.destroy();
    answer?.reject(new Error(why));
  }

  #take(read: string, atMs: number): void {
    const text = this.#rest + read;
    if (text.startsWith('HTTP/1.1 ') && !text.startsWith('HTTP/1.1 200')) {
      this.#fail(this.#socket, `answered ${text.slice(9, REFUSAL_SHOWN_CHARS)}`);
      return;
    }
    let from = 0;
    for (let to = text.indexOf('\n', from); to >= 0; to = text.indexOf('\n', from)) {
      const end = text.charCodeAt(to - 1) === 13 ? to - 1 : to;
      if (end > from) this.#line(text.slice(from, end), atMs);
      from = to + 1;
    }
    this.#rest = text.slice(from);
  }

  #line(line: string, atMs: number): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    if (line.startsWith('id: ')) answer.seq = Number(line.slice(4));
    else if (line.startsWith('event: ')) answer.type = line.slice(7);
    else if (line.startsWith('data: ')) answer.onEvent({ seq: answer.seq, type: answer.type, data: line.slice(6), atMs });
    else if (line === LAST_CHUNK) {
      this.#answer = undefined;
      answer.resolve();
    }
  }
}

/** Who asks: an app by its key, and a device. */
export interface Asker {
  readonly liveKey: string;
  readonly device: string;
}

export function mintDevice(): string {
  return randomBytes(16).toString('hex');
}

function head(method: string, path: string, { liveKey, device }: Asker): string {
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Key: ${liveKey}\r\nX-Service-Device: ${device}\r\n`;
}

/** POST /v1/chat; without a conversation it begins one. */
export function turnRequest(asker: Asker, turnId: string, conversationId?: string): string {
  const body = JSON.stringify({ turn_id: turnId, conversation_id: conversationId, message: { text: 'Hello' }, client: CLIENT });
  return `${head('POST', '/v1/chat', asker)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** GET /v1/chat/:turn_id */
export function attachRequest(asker: Asker, turnId: string): string {
  return `${head('GET', `/v1/chat/${turnId}`, asker)}\r\n`;
}
