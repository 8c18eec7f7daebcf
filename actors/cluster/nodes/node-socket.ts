/** A node's own unix socket: it answers each question of a neighbour with a line that holds the node's record. */
import { renameSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { NodeRecord } from './node-record.ts';

/** A neighbour that is paused reads nothing; what it is told meanwhile need not wait for it. */
const UNREAD_MAX_BYTES = 64 * 1024;

export class NodeSocket {
  readonly #path: string;
  readonly #record: () => NodeRecord;
  readonly #neighbours = new Set<Socket>();
  #server: Server | null = null;

  constructor(path: string, record: () => NodeRecord) {
    this.#path = path;
    this.#record = record;
  }

  /**
   * Listens; a second call does so anew, for a socket whose file was taken away. The file appears when it can be connected to:
   * until then the kernel refuses, and who is refused takes the node for gone. @throws Error of the file system.
   */
  async listen(): Promise<void> {
    this.#server?.close();
    const server = createServer((socket) => this.#accept(socket));
    const temporary = `${this.#path.slice(0, -'.sock'.length)}.new`;
    rmSync(temporary, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(temporary, () => {
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
    for (const socket of this.#neighbours) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#neighbours.add(socket);
    socket.unref();
    // Questions that came together get one answer: what counts is that there is one.
    socket.on('data', () => this.#tell(socket));
    socket.on('error', () => {});
    socket.on('close', () => this.#neighbours.delete(socket));
  }

  #tell(socket: Socket): void {
    if (socket.writableLength < UNREAD_MAX_BYTES) socket.write(`${JSON.stringify(this.#record())}\n`);
  }
}
