/**
 * How much of an upstream's answer is read at a time. A paused connection holds what was read before the pause. Node reads 64 KB at once,
 * twice, so a thousand paused answers would hold 128 MB.
 */
import type { OnReadOpts, Socket } from 'node:net';

/** Some fifteen deltas of OpenAI's; libuv reads on at once while more is there. */
const READ_BYTES = 4 * 1024;
/** Less than this lies in memory that Node shares out in pieces, which is quicker, and holds all of it for as long as one piece is held. */
const SHARED_BYTES = 1024;

/**
 * Options of undici's connector, for http and https. All connections are read into one piece of memory: what came is copied before the next
 * one is read, so that a delta of 200 bytes holds 200 bytes.
 */
export function smallReads(): { readonly highWaterMark: number; readonly onread: OnReadOpts } {
  return {
    highWaterMark: READ_BYTES,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      // Node calls it as a method of the socket. What it returns says whether to read on.
      callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
        const piece = bytes < SHARED_BYTES ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes);
        piece.set(buffer.subarray(0, bytes));
        return this.push(piece);
      },
    },
  };
}
