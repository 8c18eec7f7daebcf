/**
 * The body of a request while it is not yet known, or not yet sure, where it belongs: taken from the client as it arrives, passed
 * to a cell at that cell's pace, and kept as long as it is small, so that it can be passed to another cell or given back.
 */
import type { ClientRequest } from 'node:http';
import type { Exchange } from '../http/exchange.ts';

/** Kept of a body that is under way; a larger one can be passed on once only. */
const KEPT_MAX_BYTES = 64 * 1024;

export class BufferedBody {
  readonly #exchange: Exchange;
  /** Null once more went to a cell than is kept. */
  #kept: ArrayBuffer[] | null = [];
  #keptBytes = 0;
  #whole = false;
  #sink: ClientRequest | undefined;

  /** Within the handler of the request: later there would be nothing to take. */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.receive((chunk, isLast) => this.#take(chunk.slice(0), isLast));
  }

  /** Passes what came and what comes to the cell. False: part of it is gone already. */
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

  /** This cell takes no more. What is left waits with the client. */
  halt(sink: ClientRequest): void {
    if (this.#sink !== sink) return;
    this.#sink = undefined;
    if (!this.#whole) this.#exchange.pauseBody();
  }

  /** Gives the body to whoever has asked the exchange for it meanwhile; nothing of it may have been passed on. */
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
