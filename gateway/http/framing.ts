/**
 * Refuses requests whose length or host is ambiguous (RFC 9112 §6.3, §3.2). A proxy in front and this service could disagree on where one
 * ends, and its rest would be read as the next client's request (request smuggling). uWebSockets.js refuses a Content-Length that is not
 * a number, and one beside Transfer-Encoding; it takes the first of repeated lines, so those are refused here. It also reads sizes of
 * chunks that are none (`g` as 16), and nobody else sees them: where nothing is to be read, chunks are refused.
 */
import type { HttpRequest } from 'uWebSockets.js';

const BODYLESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** What is wrong with the lines of the request's head, in a sentence; undefined: nothing. */
export function framingProblem(req: HttpRequest): string | undefined {
  let [hosts, lengths, encodings] = [0, 0, 0];
  let [length, encoding] = ['', ''];
  req.forEach((name, value) => {
    if (name === 'content-length') {
      lengths += 1;
      length = value;
    } else if (name === 'transfer-encoding') {
      encodings += 1;
      encoding = value;
    } else if (name === 'host') hosts += 1;
  });
  if (hosts > 1) return 'The request has several Host headers. Send one.';
  if (lengths > 1) return 'The request has several Content-Length headers. Send one.';
  if (lengths > 0 && !/^\d+$/.test(length)) return 'Content-Length must be a number of bytes.';
  if (lengths > 0 && encodings > 0) return 'The request has Content-Length and Transfer-Encoding. Send one of them.';
  if (encodings > 1 || (encodings > 0 && encoding.toLowerCase() !== 'chunked')) {
    return 'Transfer-Encoding may only be chunked, once.';
  }
  if (encodings > 0 && BODYLESS.has(req.getCaseSensitiveMethod())) return 'A GET or HEAD has no body: send it without Transfer-Encoding.';
  return undefined;
}
