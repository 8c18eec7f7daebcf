/** An answer on its way, from its head on, from another cell or whole. Keeps uWebSockets' laws as `exchange.ts` does. */
import type { HttpResponse } from 'uWebSockets.js';

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

  get open(): boolean {
    return this.#open;
  }

  /** Runs `work` with its writes going out as one. Empty work sends what is buffered. */
  cork(work: () => void): void {
    if (this.#open) this.#res.cork(work);
  }

  pass(chunk: Uint8Array) {
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

  drop(): void {
    if (this.#open) this.#res.close();
  }

  abort(): void {
    if (this.#open) this.#end();
  }

  #end(): void {
    this.#open = false;
    this.#ended();
  }
}

const NOTHING = new Uint8Array();

/**
 * Sends an answer whose head is written. Undefined: all of it has left. Otherwise the rest leaves as the client takes it, straight from
 * `body`, and `ended` is called then; uWebSockets ends a connection that takes nothing for 10 s, and one that sends its next request before.
 * `isHead`: the length of `body` is told, and nothing of it.
 */
export function sendWhole(
  res: HttpResponse,
  status: number,
  body: string | Uint8Array,
  isHead: boolean,
  ended: () => void,
): PassedAnswer | undefined {
  // uWebSockets tells of a body, or of a length that is still to come, whether the connection has room; of a head alone it does not.
  const [hasRoom, isWhole] = isHead ? res.tryEnd('', Buffer.byteLength(body)) : res.tryEnd(body, 0);
  if (isWhole) return undefined;
  if (isHead && hasRoom) {
    res.end('');
    return undefined;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const passed = new PassedAnswer(res, status, bytes.length, ended);
  let left = isHead ? NOTHING : bytes.subarray(res.getWriteOffset());
  res.onWritable(() => {
    if (isHead) passed.end();
    else
      passed.cork(() => {
        left = left.subarray(passed.pass(left).taken);
      });
    return true;
  });
  return passed;
}
