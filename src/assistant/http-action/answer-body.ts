/** Reads what an endpoint answered: decompressed, bounded, as text. */
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** An answer that is not read to its end. `message` is a sentence for the model. */
export class UnreadableAnswer extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableAnswer';
  }
}

const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** Statuses that have no body, whatever their headers say of it. */
const BODILESS = new Set([204, 205]);

function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function decompressed(body: Readable, encoding: string | undefined): Readable {
  const written = encoding?.trim().toLowerCase() ?? '';
  if (written === '' || written === 'identity') return body;
  const make = Object.hasOwn(DECODERS, written) ? DECODERS[written as keyof typeof DECODERS] : undefined;
  if (make === undefined) throw new UnreadableAnswer('The endpoint compresses its answer in a way that was not asked for.');
  const decoder = make();
  // Not `pipeline`: an error on either side has to reach the one reader, and the body is destroyed with its connection.
  body.on('error', (error) => decoder.destroy(error));
  return body.pipe(decoder);
}

/**
 * The whole body as text (UTF-8, without a byte order mark), read to the end or to the first byte too many: what a small
 * compressed body grows to is counted, never held.
 * @throws UnreadableAnswer; Error when the connection breaks or the compressed bytes are no such thing.
 */
export async function readAnswer(answer: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const tooLong = () => new UnreadableAnswer(`The answer of the endpoint is larger than ${Math.floor(maxBytes / 1024)} KB.`);
  const length = headerOf(answer, 'content-length');
  if (BODILESS.has(answer.statusCode) || length === '0') return '';
  if (Number(length ?? 0) > maxBytes) throw tooLong();
  const stream = decompressed(answer.body, headerOf(answer, 'content-encoding'));
  let received = 0;
  if (stream !== answer.body) {
    // A compressed stream may also be long and yield nothing.
    answer.body.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) stream.destroy(tooLong());
    });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLong();
      chunks.push(chunk);
    }
  } catch (error) {
    // Nothing, said to be compressed, is not even the beginning of a compressed stream; it is meant to be nothing.
    if (stream === answer.body || received > 0 || !answer.body.readableEnded) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
