/**
 * An answer that another cell makes, on its way to the client byte by byte: the part of an exchange that begins when the answer's head
 * is known. Keeps uWebSockets' laws as `exchange.ts` does, which owns the response before and after.
 */
import type { HttpResponse } from 'uWebSockets.js';

export interface Passed {
  /** Bytes of the chunk that were sent, or kept by uWebSockets. */
  readonly taken: number;
  /** False: pass no more until the client has taken some. */
  readonly room: boolean;
}

export class PassedAnswer {
  readonly #res: HttpResponse;
  readonly #status: number;
  /** Length of the body; null: not known, so it is sent in chunks. */
  readonly #bytes: number | null;
  readonly #ended: () => void;
  #open = true;

  /** `ended` is called once: after the last byte, or when the client has left. */
  constructor(res: HttpResponse, status: number, bytes: number | null, ended: () => void) {
    this.#res = res;
    this.#status = status;
    this.#bytes = bytes;
    this.#ended = ended;
  }

  /** False once it has ended or the client has left. */
  get open(): boolean {
    return this.#open;
  }

  /** Runs `work` with its writes going out as one. Empty work sends what is buffered. */
  cork(work: () => void): void {
    if (this.#open) this.#res.cork(work);
  }

  pass(chunk: Uint8Array): Passed {
    if (!this.#open) return { taken: chunk.length, room: false };
    // With a known length nothing is ever buffered: what does not fit is not taken.
    if (this.#bytes === null) return { taken: chunk.length, room: this.#res.write(chunk) };
    const before = this.#res.getWriteOffset();
    const [ok, done] = this.#res.tryEnd(chunk, this.#bytes);
    if (!done) return { taken: ok ? chunk.length : this.#res.getWriteOffset() - before, room: ok };
    this.#end();
    return { taken: chunk.length, room: true };
  }

  /** Ends an answer of unknown length, or one without a body; any other ends with its last byte. */
  end(): void {
    if (!this.#open) return;
    const bodiless = this.#status === 204 || this.#status === 304;
    this.#res.cork(() => {
      if (bodiless) this.#res.endWithoutBody();
      else if (this.#bytes === null) this.#res.end();
      else this.#res.end('');
    });
    this.#end();
  }

  /** Cuts the connection: the client sees that the answer is not whole. */
  drop(): void {
    if (this.#open) this.#res.close();
  }

  /** The client has left. */
  abort(): void {
    if (this.#open) this.#end();
  }

  #end(): void {
    this.#open = false;
    this.#ended();
  }
}
