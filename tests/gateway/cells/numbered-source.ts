/** A stream of numbered events, and a client without a library that reads it when it likes. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { FrameSource } from '../../../actors/frame-source.ts';
import { renderEvent } from '../../../protocol/runtime/stream-events.ts';
import { eventually } from '../../support/eventually.ts';

/** Frames by number, as many as are there. */
export class NumberedSource implements FrameSource {
  upTo = 0;
  readers = 0;
  readChars = 0;
  #wake = () => {};
  readonly #end: number;
  readonly #words: string;

  constructor(end: number, words = 'word ') {
    this.#end = end;
    this.#words = words;
  }

  frame(seq: number): string {
    return renderEvent(seq, { type: 'block.delta', index: 0, text_delta: this.#words + seq });
  }

  go(upTo = this.#end): void {
    this.upTo = upTo;
    this.#wake();
  }

  read(seq: number, maxChars: number) {
    let [text, nextSeq] = ['', seq];
    while (nextSeq < this.upTo && (text === '' || text.length < maxChars)) {
      text += this.frame(nextSeq);
      nextSeq += 1;
    }
    this.readChars += text.length;
    return { text, nextSeq, ended: nextSeq === this.#end };
  }

  subscribe(wake: () => void) {
    this.readers += 1;
    this.#wake = wake;
    return () => {
      this.readers -= 1;
    };
  }
}

/** A client that reads nothing until told to. */
export function rawClient(port: number, path: string, headers: Readonly<Record<string, string>>): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
  return socket;
}

/** What is in the chunks of a chunked answer. */
export function unchunked(wire: Buffer): string {
  let at = wire.indexOf('\r\n\r\n') + 4;
  const parts: Buffer[] = [];
  for (;;) {
    const lineEnd = wire.indexOf('\r\n', at);
    const size = Number.parseInt(wire.subarray(at, lineEnd).toString(), 16);
    assert.ok(Number.isInteger(size), 'every chunk begins with its size');
    if (size === 0) return Buffer.concat(parts).toString();
    parts.push(wire.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Until every buffer of the system between two sides is full, and the number of bytes that left one of them rises no more. */
export async function standsStill(bytes: () => number): Promise<void> {
  let [before, still] = [0, 0];
  await eventually(() => {
    const now = bytes();
    still = now > 0 && now === before ? still + 1 : 0;
    before = now;
    return still === 10;
  });
}
