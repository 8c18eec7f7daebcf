/**
 * One other node of the host, seen through its unix socket. It owns the connection and what it shows: an answer means alive, a refusal means gone,
 * and heartbeat.ts judges silence. A connection that breaks is made again at once: only a refusal proves that no process is there.
 */
import { connect, type Socket } from 'node:net';
import type { Liveness } from './heartbeat.ts';
import { Heartbeat, type HeartbeatTimes } from './heartbeat.ts';
import { markOf } from './node-id.ts';
import { type NodeRecord, parseNodeRecord } from './node-record.ts';

/** A longer line is not a record. */
const LINE_MAX_CHARS = 64 * 1024;
/** Connections between two ticks: a socket that accepts and closes at once must not be tried without end. */
const ATTEMPTS_MAX = 3;
/** Errors of the kernel when no process listens. Others, such as too many waiting connections, prove nothing. */
const REFUSALS = ['ECONNREFUSED', 'ENOENT'];

export interface NeighbourOptions {
  /** The 8 characters of its id. */
  readonly mark: string;
  readonly path: string;
  readonly times: HeartbeatTimes;
  readonly nowMs: () => number;
  /** Once; nothing follows it. `wasThere`: it was connected before. */
  readonly onGone: (neighbour: Neighbour, wasThere: boolean) => void;
}

export class Neighbour {
  readonly mark: string;
  /** Null until it first answered. */
  record: NodeRecord | null = null;
  /** Resolves when it first answered, or is gone. */
  readonly known: Promise<void>;
  readonly #options: NeighbourOptions;
  readonly #heartbeat: Heartbeat;
  #socket: Socket | null = null;
  #unread = '';
  #wasThere = false;
  #isClosed = false;
  #isGone = false;
  #attempts = 0;
  #nowKnown: () => void = () => {};

  constructor(options: NeighbourOptions) {
    this.mark = options.mark;
    this.#options = options;
    this.#heartbeat = new Heartbeat(options.times, options.nowMs());
    this.known = new Promise((resolve) => {
      this.#nowKnown = resolve;
    });
    this.#connect();
  }

  get liveness(): Liveness {
    if (this.#isGone) return 'gone';
    return this.#heartbeat.isSilent ? 'silent' : 'alive';
  }

  /** Asks again. True when it fell silent since the last time; `missedMs` of this time passed without this process. */
  tick(missedMs: number): boolean {
    this.#attempts = 0;
    if (this.#socket === null) this.#connect();
    else this.#ask(this.#socket);
    return this.#heartbeat.fellSilent(this.#options.nowMs(), missedMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
    this.#nowKnown();
  }

  #connect(): void {
    if (this.#isClosed || this.#attempts === ATTEMPTS_MAX) return;
    this.#attempts += 1;
    const socket = connect(this.#options.path);
    this.#socket = socket;
    this.#unread = '';
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      this.#wasThere = true;
      this.#ask(socket);
    });
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (REFUSALS.includes(error.code ?? '')) this.#goes();
    });
    socket.on('close', () => {
      this.#socket = null;
      this.#connect();
    });
  }

  /** Asks for the record. A paused node reads nothing, so at most one question waits. */
  #ask(socket: Socket): void {
    if (socket.writable && socket.writableLength === 0) socket.write('?\n');
  }

  #read(text: string): void {
    const lines = `${this.#unread}${text}`.split('\n');
    this.#unread = lines.pop() ?? '';
    if (this.#unread.length > LINE_MAX_CHARS) this.#socket?.destroy();
    const record = parseNodeRecord(lines.at(-1) ?? '');
    if (record === null || markOf(record.id) !== this.mark) return;
    this.record = record;
    this.#heartbeat.heard(this.#options.nowMs());
    this.#nowKnown();
  }

  #goes(): void {
    if (this.#isClosed) return;
    this.#isGone = true;
    this.close();
    this.#options.onGone(this, this.#wasThere);
  }
}
