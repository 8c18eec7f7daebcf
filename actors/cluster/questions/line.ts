/**
 * One connection between two nodes of the host, as lines of JSON. It splits lines, keeps them while nothing listens, and reports the end of the
 * connection after the last line. It does not know what the lines mean.
 *
 * Lines never leave the host and are not sealed: only the service's own user can use the folder of the sockets (see members.ts), and that user can
 * read the data directory as well.
 */
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** The largest line is a turn's command, under 1 MB by the limits of a request's body; a larger one is a mistake. */
const LINE_MAX_CHARS = 8 * 1024 * 1024;

export interface Hearing {
  message(message: unknown): void;
  /** Once, after the last message: the other side closed the connection, or is gone. */
  closed(): void;
  /** The other side takes again what is sent, after `send` answered false. */
  drained?(): void;
}

export interface Line {
  /** False when the other side does not keep up: `drained` follows. What is sent once the connection has ended is dropped. */
  send(message: unknown): boolean;
  /** The listener from now on; null: messages wait. */
  hear(hearing: Hearing | null): void;
  /** While the line is held, messages wait, and soon the other side cannot send. */
  hold(isHeld: boolean): void;
  /** Ends the connection after what was sent. */
  end(): void;
  /** Ends the connection at once. The listener is not called any more. */
  close(): void;
}

export class SocketLine implements Line {
  readonly #socket: Socket;
  readonly #waiting: string[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #unread = '';
  #hearing: Hearing | null = null;
  #isHeld = false;
  #isClosed = false;
  /** The system's error code for the end of the connection, such as ECONNREFUSED. */
  failure: string | null = null;

  /** `first` is what was read of the connection already. */
  constructor(socket: Socket, first?: Buffer) {
    this.#socket = socket;
    // It does not keep the process alive.
    socket.unref();
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('drain', () => this.#hearing?.drained?.());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.failure = error.code ?? error.message;
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#deliver();
    });
    if (first !== undefined) this.#read(first);
  }

  send(message: unknown): boolean {
    return this.#socket.writable ? this.#socket.write(`${JSON.stringify(message)}\n`) : true;
  }

  hear(hearing: Hearing | null): void {
    this.#hearing = hearing;
    this.#deliver();
  }

  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) {
      this.#socket.pause();
      return;
    }
    this.#socket.resume();
    // Not within the call of `hold`.
    setImmediate(() => this.#deliver());
  }

  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#hearing = null;
    this.#waiting.length = 0;
    this.#socket.destroy();
  }

  /** Ends the connection at once, as if the other side had. */
  abort(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const lines = `${this.#unread}${this.#decoder.write(bytes)}`.split('\n');
    this.#unread = lines.pop() ?? '';
    if (this.#unread.length > LINE_MAX_CHARS) this.#socket.destroy();
    this.#waiting.push(...lines);
    this.#deliver();
  }

  #deliver(): void {
    while (this.#hearing !== null && !this.#isHeld) {
      const line = this.#waiting.shift();
      if (line !== undefined) {
        this.#hearing.message(parsed(line));
        continue;
      }
      if (!this.#isClosed) return;
      const { closed } = this.#hearing;
      this.#hearing = null;
      closed();
    }
  }
}

/** Undefined when it is not JSON: the other side is another version of the program. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
