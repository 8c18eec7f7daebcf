/**
 * One other node of the host, seen through its unix socket. It owns the connection to it and what follows from how that goes: an
 * answer means alive, a refusal gone for good, silence is for heartbeat.ts to judge. A connection that breaks is made again at once:
 * only a refusal tells that nobody is there.
 */
import { connect, type Socket } from 'node:net';
import type { Liveness } from './heartbeat.ts';
import { Heartbeat, type HeartbeatTimes } from './heartbeat.ts';
import { markOf } from './node-id.ts';
import { type NodeRecord, parseNodeRecord } from './node-record.ts';

/** No record is near this; what is longer is no node. */
const LINE_MAX_CHARS = 64 * 1024;
/** Connections between two ticks: one that accepts and closes at once would be connected to without end. */
const ATTEMPTS_MAX = 3;
/** What the kernel says when nobody listens. Whatever else it says, such as that too many wait, is no proof. */
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

  /** Any line is a question. A paused node reads none, so none is added to those that wait. */
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
