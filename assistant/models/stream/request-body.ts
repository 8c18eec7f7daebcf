/** The body of a request that shows pictures. Nothing of a picture is in memory but the piece that is on its way. */
import type { ImagePart } from '../model.ts';

const BASE64_GROUP_BYTES = 3;
const BASE64_GROUP_CHARS = 4;

export interface StreamedBody {
  readonly bytes: number;
  readonly pictureBytes: number;
  /** The body from its beginning. @throws what a picture's file could not be read with. */
  stream(): AsyncGenerator<Buffer, void, undefined>;
}

function base64Bytes(bytes: number): number {
  return Math.ceil(bytes / BASE64_GROUP_BYTES) * BASE64_GROUP_CHARS;
}

/** The pieces in base64, whole groups at a time, so that the pieces of text join to that of the whole. */
async function* inBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const joined = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const whole = joined.length - (joined.length % BASE64_GROUP_BYTES);
    rest = Buffer.from(joined.subarray(whole));
    if (whole > 0) yield Buffer.from(joined.toString('base64', 0, whole), 'latin1');
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** `texts` are what stands around the pictures: one more than there are pictures. */
export function streamedBody(texts: readonly string[], pictures: readonly ImagePart[]): StreamedBody {
  const parts = texts.map((text) => Buffer.from(text));
  const base64 = pictures.reduce((sum, { bytes }) => sum + base64Bytes(bytes), 0);
  return {
    bytes: parts.reduce((sum, { length }) => sum + length, base64),
    pictureBytes: pictures.reduce((sum, { bytes }) => sum + bytes, 0),
    async *stream() {
      for (const [at, part] of parts.entries()) {
        yield part;
        const picture = pictures[at];
        if (picture !== undefined) yield* inBase64(picture.pieces());
      }
    },
  };
}

export class PassingBody implements Iterable<Buffer> {
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
