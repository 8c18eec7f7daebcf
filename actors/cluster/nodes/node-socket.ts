/**
 * A node's own unix socket. A connection that begins with `?` is a heartbeat of a neighbour: each time it asks, it gets a line with this node's
 * record. Any other connection begins with a question and is passed to `onQuestion`.
 */
import { renameSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { NodeRecord } from './node-record.ts';

/** A paused neighbour reads nothing; records need not be kept for it. */
const UNREAD_MAX_BYTES = 64 * 1024;
/** Connections that wait while this process is busy: questions of half a second, as many as the kernel lets wait as a rule. */
const BACKLOG = 4_096;
const ASKS_FOR_RECORD = '?'.charCodeAt(0);

/** Takes a connection over; `first` is what was read of it. */
export type TakeQuestion = (socket: Socket, first: Buffer) => void;

export class NodeSocket {
  readonly #path: string;
  readonly #record: () => NodeRecord;
  readonly #onQuestion: TakeQuestion;
  /** Connections that have not begun yet. */
  readonly #fresh = new Set<Socket>();
  readonly #neighbours = new Set<Socket>();
  #server: Server | null = null;

  constructor(path: string, record: () => NodeRecord, onQuestion: TakeQuestion) {
    this.#path = path;
    this.#record = record;
    this.#onQuestion = onQuestion;
  }

  /**
   * Listens; call it again when the file of the socket was deleted. The file appears once it can be connected to:
   * until then the kernel refuses, and who is refused takes the node for gone. @throws Error of the file system.
   */
  async listen(): Promise<void> {
    this.#server?.close();
    const server = createServer((socket) => this.#accept(socket));
    const temporary = `${this.#path.slice(0, -'.sock'.length)}.new`;
    rmSync(temporary, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path: temporary, backlog: BACKLOG }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    // One connection that cannot be accepted (too many files are open) is tried again by its neighbour.
    server.on('error', () => {});
    server.unref();
    renameSync(temporary, this.#path);
    this.#server = server;
  }

  /** Tells all neighbours the record as it is now, unasked. */
  push(): void {
    for (const socket of this.#neighbours) this.#tell(socket);
  }

  /** Neighbours see the connection end and the file gone: the node is gone. */
  close(): void {
    rmSync(this.#path, { force: true });
    this.#server?.close();
    for (const socket of [...this.#fresh, ...this.#neighbours]) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#fresh.add(socket);
    socket.unref();
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#fresh.delete(socket);
      this.#neighbours.delete(socket);
    });
    socket.once('data', (first: Buffer) => {
      this.#fresh.delete(socket);
      if (first[0] !== ASKS_FOR_RECORD) {
        this.#onQuestion(socket, first);
        return;
      }
      this.#neighbours.add(socket);
      // Requests that came together get one answer: that is enough.
      socket.on('data', () => this.#tell(socket));
      this.#tell(socket);
    });
  }

  #tell(socket: Socket): void {
    if (socket.writableLength < UNREAD_MAX_BYTES) socket.write(`${JSON.stringify(this.#record())}\n`);
  }
}
