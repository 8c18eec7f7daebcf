/**
 * Decodes the bytes of a stream into server-sent frames (STREAM-1), wherever the bytes are split. LF and CRLF end a line, a byte order
 * mark and comments are ignored, and the length of a frame is bounded.
 */

/** In UTF-16 units. A block has about 10 KB at most, so no frame of the service comes near this. */
export const FRAME_MAX_CHARS = 1024 * 1024;
/** Room for `data: ` and the like. */
const FIELD_NAME_CHARS = 64;

export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

export class FrameDecoder {
  readonly #onFrame: (frame: Frame) => void;
  readonly #maxChars: number;
  readonly #text = new TextDecoder();
  #isTooLong = false;
  /** The beginning of a line. */
  #line = '';
  #id: string | undefined;
  #event: string | undefined;
  #data: string | undefined;

  /** Calls `onFrame` for each whole frame, and no more after one that is too long. */
  constructor(onFrame: (frame: Frame) => void, maxChars: number = FRAME_MAX_CHARS) {
    this.#onFrame = onFrame;
    this.#maxChars = maxChars;
  }

  /** Decodes these bytes. False once a frame or a line is too long. */
  push(bytes: Uint8Array): boolean {
    const text = this.#text.decode(bytes, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0 && !this.#isTooLong; end = text.indexOf('\n', from)) {
      const line = this.#line + text.slice(from, end);
      this.#line = '';
      from = end + 1;
      this.#read(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
    this.#line += text.slice(from);
    this.#measure(this.#line, FIELD_NAME_CHARS);
    return !this.#isTooLong;
  }

  #measure(text: string, more = 0): void {
    if (text.length > this.#maxChars + more) this.#isTooLong = true;
  }

  /** A field, a comment, or the end of a frame. Unknown fields are ignored, but their length counts. */
  #read(line: string): void {
    if (line === '') {
      if (this.#data !== undefined) this.#onFrame({ id: this.#id, event: this.#event, data: this.#data });
      this.#id = this.#event = this.#data = undefined;
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (name === 'event') this.#event = value || undefined;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name !== '') this.#measure(line);
    this.#measure(value);
    this.#measure(this.#data ?? '');
  }
}
