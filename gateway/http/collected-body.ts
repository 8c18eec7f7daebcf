/** Collects a request's body within its limit and hands it over whole. */
import { Refusal } from '../../protocol/errors.ts';
import { codesOf } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { Interface } from './interface.ts';

function tooLarge(face: Interface, maxBytes: number): Refusal {
  return new Refusal(codesOf(face).tooLarge, `The body may have ${maxBytes} bytes at most. Send less per request.`);
}

/**
 * Collects the body and hands it over once, whole. Refuses by Content-Length first, then by counting, because a chunked body declares
 * no length. `done` may use the bytes during its call only.
 */
export function collectBody(
  exchange: Exchange,
  maxBytes: number,
  done: (bytes: Uint8Array) => void,
  refuse: (refusal: Refusal) => void,
): void {
  if (Number(exchange.header('content-length')) > maxBytes) {
    refuse(tooLarge(exchange.interface, maxBytes));
    return;
  }
  let earlier: Buffer[] = [];
  let received = 0;
  exchange.receive((chunk, isLast) => {
    received += chunk.byteLength;
    if (received > maxBytes) {
      earlier = [];
      refuse(tooLarge(exchange.interface, maxBytes));
      return;
    }
    const bytes = new Uint8Array(chunk);
    // uWebSockets takes the chunk back after this call.
    if (!isLast) earlier.push(Buffer.from(bytes));
    else done(earlier.length === 0 ? bytes : Buffer.concat([...earlier, bytes]));
  });
}
