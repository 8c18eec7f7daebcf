/** A head in JSON and a body of bytes. Not Node's channel: it accepts any size, and a stranger's document was parsed. */

/** Two lengths, unsigned and big-endian. */
const LENGTHS_BYTES = 8;

export interface Frame {
  /** Parsed JSON, to be validated by the receiver. */
  readonly head: unknown;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What goes before the body: so that a body of many megabytes is not copied to be sent. */
export function frameStart(head: object, bodyLength: number): Buffer {
  const json = Buffer.from(JSON.stringify(head), 'utf8');
  const start = Buffer.alloc(LENGTHS_BYTES + json.length);
  start.writeUInt32BE(json.length, 0);
  start.writeUInt32BE(bodyLength, 4);
  json.copy(start, LENGTHS_BYTES);
  return start;
}

/** Puts frames together from pieces. One side speaks at a time, so that nothing ever follows a frame in the same piece. */
export class FrameReader {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The frame that this piece ends; undefined when more is to come. @throws Error for what is no frame, or too large. */
  push(piece: Buffer): Frame | undefined {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < LENGTHS_BYTES) return undefined;
    if (this.#pieces.length > 1 && (this.#pieces[0]?.length ?? 0) < LENGTHS_BYTES) this.#pieces = [Buffer.concat(this.#pieces)];
    const first = this.#pieces[0] as Buffer;
    const headLength = first.readUInt32BE(0);
    const wanted = LENGTHS_BYTES + headLength + first.readUInt32BE(4);
    if (wanted > this.#maxBytes || this.#length > wanted) throw new Error('what arrived is no frame, or larger than one may be');
    if (this.#length < wanted) return undefined;
    const whole = new Uint8Array(wanted);
    let at = 0;
    for (const each of this.#pieces) {
      whole.set(each, at);
      at += each.length;
    }
    this.#pieces = [];
    this.#length = 0;
    const bodyAt = LENGTHS_BYTES + headLength;
    return { head: JSON.parse(Buffer.from(whole.buffer, LENGTHS_BYTES, headLength).toString('utf8')), body: whole.subarray(bodyAt) };
  }
}
