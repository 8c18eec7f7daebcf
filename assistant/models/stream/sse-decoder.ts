/** From bytes to the payloads of an event stream's `data:` lines, each of which is one chunk. LF and CRLF end a line. */

/** A chunk of a completion has a few hundred bytes; with log probabilities or a whole tool call, some ten thousand. */
export const SSE_LINE_MAX_BYTES = 1024 * 1024;

const LF = 10;
const CR = 13;

export interface SsePayloadSink {
  /** `payload` is what follows `data:` and one space. False: the rest of the stream is of no interest. */
  data(payload: string): boolean;
  /** What follows `error:`, a field of some llama.cpp versions. False as above. */
  error(payload: string): boolean;
}

export class SseDecoder {
  private readonly sink: SsePayloadSink;
  private readonly lineMaxBytes: number;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private atStart = true;

  constructor(sink: SsePayloadSink, lineMaxBytes: number = SSE_LINE_MAX_BYTES) {
    this.sink = sink;
    this.lineMaxBytes = lineMaxBytes;
  }

  /** Hands over every payload that `chunk` completes. False when a line is longer than allowed. `chunk` is the decoder's from now on. */
  push(chunk: Buffer): boolean {
    // LF is never part of a longer UTF-8 sequence, so text up to the last one can be decoded whole.
    const last = chunk.lastIndexOf(LF);
    if (last < 0) return this.hold(chunk);
    if (this.heldBytes > 0) {
      if (this.heldBytes + chunk.indexOf(LF) > this.lineMaxBytes) return false;
      this.held.push(chunk.subarray(0, last));
      const joined = Buffer.concat(this.held);
      this.held = [];
      this.heldBytes = 0;
      if (!this.lines(joined.toString('utf8'))) return false;
    } else if (!this.lines(chunk.toString('utf8', 0, last))) {
      return false;
    }
    return last + 1 === chunk.length || this.hold(chunk.subarray(last + 1));
  }

  /** The stream ended: a last line without an end counts. False when it is longer than allowed. */
  end(): boolean {
    if (this.heldBytes === 0) return true;
    const rest = Buffer.concat(this.held).toString('utf8');
    this.held = [];
    this.heldBytes = 0;
    return this.lines(rest);
  }

  private hold(part: Buffer): boolean {
    this.heldBytes += part.length;
    if (this.heldBytes > this.lineMaxBytes) return false;
    // A copy, unless the part is most of the memory that it is a view of: it is not to keep the rest.
    this.held.push(part.length * 2 > part.buffer.byteLength ? part : Buffer.from(part));
    return true;
  }

  private lines(decoded: string): boolean {
    let text = decoded;
    if (this.atStart) {
      this.atStart = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    for (let start = 0; start < text.length; ) {
      const lf = text.indexOf('\n', start);
      const next = lf < 0 ? text.length + 1 : lf + 1;
      let end = next - 1;
      if (end > start && text.charCodeAt(end - 1) === CR) end--;
      // Units are never more than bytes, so this lets nothing pass that the byte count would have let pass by half.
      if (end - start > this.lineMaxBytes) return false;
      if (end > start && !this.line(text, start, end)) return true;
      start = next;
    }
    return true;
  }

  /** False when the sink wants no more. Comments and the fields `event`, `id`, `retry` are passed over. */
  private line(text: string, start: number, end: number): boolean {
    if (text.startsWith('data:', start)) {
      const from = text.charCodeAt(start + 5) === 32 ? start + 6 : start + 5;
      return from >= end || this.sink.data(text.slice(from, end));
    }
    return !text.startsWith('error:', start) || this.sink.error(text.slice(start + 6, end));
  }
}
