/**
 * Parses one HTTP/1.1 response incrementally: its head, its body as it arrives, and its end, framed by a length, by chunks or by the
 * close of the connection. Knows nothing of sockets.
 */

/** Bounds the memory that a head can take; proxies add headers, but never this many. */
const HEAD_MAX_BYTES = 64 * 1024;
/** Bounds the size line of a chunk: hexadecimal digits and extensions. */
const SIZE_LINE_MAX_CHARS = 1_024;
const LF = 10;
const CR = 13;
/** A blank line ends a head only after another line. */
const BLANK_LINE_CHARS = 2;

export interface AnswerHead {
  readonly status: number;
  /** By name in lower case. The last one counts when a header is repeated. */
  readonly headers: ReadonlyMap<string, string>;
}

interface AnswerSink {
  head(head: AnswerHead): void;
  /** The bytes are valid until the sink returns. */
  body(bytes: Uint8Array): void;
  /** The response is complete. `mayGoOn`: the connection can be reused. */
  end(mayGoOn: boolean): void;
}

type Place = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'rest' | 'over';

export class NotHttp extends Error {
  override readonly name = 'NotHttp';
}

function headOf(text: string): AnswerHead {
  const [first = '', ...lines] = text.split(/\r?\n/);
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(first) ?? [];
  if (status === undefined) throw new NotHttp(`the answer begins with "${first.slice(0, 60)}"`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

export class AnswerScanner {
  readonly #sink: AnswerSink;
  #place: Place = 'head';
  #held = '';
  /** Bytes of the head's present line, its end not counted: joining and reading the whole head at each line would take quadratic time. */
  #lineBytes = 0;
  #left = 0;
  #mayGoOn = true;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  get hasBegun(): boolean {
    return this.#place !== 'head' || this.#held !== '';
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && this.#place !== 'over') {
      if (this.#place === 'length' || this.#place === 'chunk') at = this.#count(bytes, at);
      else if (this.#place === 'rest') {
        this.#sink.body(at === 0 ? bytes : bytes.subarray(at));
        return;
      } else at = this.#line(bytes, at);
    }
  }

  /** The connection closed. True when that is the end of this response. */
  closed(): boolean {
    if (this.#place !== 'rest') return false;
    this.#place = 'over';
    this.#sink.end(false);
    return true;
  }

  #count(bytes: Uint8Array, at: number): number {
    const take = Math.min(this.#left, bytes.length - at);
    this.#left -= take;
    this.#sink.body(bytes.subarray(at, at + take));
    if (this.#left === 0) {
      if (this.#place === 'chunk') this.#place = 'chunk-end';
      else this.#finish();
    }
    return at + take;
  }

  #finish(): void {
    this.#place = 'over';
    this.#sink.end(this.#mayGoOn);
  }

  /** Takes bytes up to the end of a line, which may come later. Heads are in Latin-1. */
  #line(bytes: Uint8Array, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const end = lf < 0 ? bytes.length : lf + 1;
    const max = this.#place === 'head' ? HEAD_MAX_BYTES : SIZE_LINE_MAX_CHARS;
    if (this.#held.length + end - at > max) throw new NotHttp('a header or a chunk’s size is too long');
    // Chunk sizes and heads are short, so a call for each byte is cheap.
    for (let each = at; each < end; each++) {
      const byte = bytes[each] as number;
      this.#held += String.fromCharCode(byte);
      if (byte !== LF && byte !== CR) this.#lineBytes += 1;
    }
    if (lf >= 0) this.#lineEnded();
    return end;
  }

  #lineEnded(): void {
    const line = this.#held;
    switch (this.#place) {
      case 'head':
        if (this.#lineBytes === 0 && line.length > BLANK_LINE_CHARS) this.#headEnded(line);
        this.#lineBytes = 0;
        return;
      case 'size': {
        const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?\r?\n$/is.exec(line) ?? [];
        if (digits === undefined) throw new NotHttp(`"${line.trim().slice(0, 20)}" is no size of a chunk`);
        this.#left = Number.parseInt(digits, 16);
        this.#place = this.#left === 0 ? 'trailer' : 'chunk';
        break;
      }
      case 'chunk-end':
        if (line.trim() !== '') throw new NotHttp('a chunk is longer than it says');
        this.#place = 'size';
        break;
      case 'trailer':
        if (line.trim() === '') {
          this.#held = '';
          this.#finish();
          return;
        }
    }
    this.#held = '';
  }

  #headEnded(text: string): void {
    this.#held = '';
    const head = headOf(text);
    // Interim responses: 100 Continue, 103 Early Hints.
    if (head.status >= 100 && head.status < 200) return;
    const { headers } = head;
    const connection = (headers.get('connection') ?? '').toLowerCase();
    this.#mayGoOn = text.startsWith('HTTP/1.1') ? connection !== 'close' : connection === 'keep-alive';
    const length = headers.get('content-length');
    if ((headers.get('transfer-encoding') ?? '').toLowerCase().endsWith('chunked')) this.#place = 'size';
    else if (head.status === 204 || head.status === 304 || length === '0') this.#place = 'length';
    else if (length === undefined) this.#place = 'rest';
    else {
      this.#left = Number(length);
      if (!Number.isSafeInteger(this.#left) || this.#left < 0) throw new NotHttp(`the length of the answer is "${length.slice(0, 20)}"`);
      this.#place = 'length';
    }
    this.#sink.head(head);
    if (this.#place === 'length' && this.#left === 0) this.#finish();
  }
}
