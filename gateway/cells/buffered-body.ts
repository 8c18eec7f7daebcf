/**
 * The body of a request while the cell that answers it is not known for certain. Reads it from the client as it arrives and forwards it
 * at the cell's pace. Keeps a small one, so that it can go to another cell or be read here after all.
 */
import type { ClientRequest } from 'node:http';
import type { Exchange } from '../http/exchange.ts';

/** A body is kept up to this size; a larger one can be forwarded once only. */
const KEPT_MAX_BYTES = 64 * 1024;

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
