/**
 * The bytes of a request, which are let go of once they are on their way: undici holds what it was given as a body until the answer has ended.
 */
export class PassingBody implements Iterable<Buffer> {
  /** What `Content-Length` says. */
  readonly bytes: number;
  #pieces: readonly Buffer[];

  constructor(pieces: readonly Buffer[]) {
    this.bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#pieces = pieces;
  }

  /** All pieces, the first time. undici sends no POST a second time. */
  *[Symbol.iterator](): Generator<Buffer, void, undefined> {
    const pieces = this.#pieces;
    this.#pieces = [];
    yield* pieces;
  }
}
