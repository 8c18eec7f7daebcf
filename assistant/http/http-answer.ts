/** What a server outside answered: its body, decompressed and bounded, and a sentence for what goes wrong below HTTP. */
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { AddressRefused } from './address-guard.ts';

/** An answer that is not read to its end. `message` is one of the caller's sentences. */
export class UnreadableAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableAnswer';
  }
}

export interface AnswerSentences {
  readonly tooLong: string;
  readonly encoding: string;
}

const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** Statuses that have no body, whatever their headers say of it. */
const BODILESS = new Set([204, 205]);

export function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function decompressed(body: Readable, encoding: string | undefined, sentences: AnswerSentences): Readable {
  const written = encoding?.trim().toLowerCase() ?? '';
  if (written === '' || written === 'identity') return body;
  const make = Object.hasOwn(DECODERS, written) ? DECODERS[written as keyof typeof DECODERS] : undefined;
  if (make === undefined) throw new UnreadableAnswer(sentences.encoding);
  const decoder = make();
  // Not `pipeline`: an error on either side has to reach the one reader, and the body is destroyed with its connection.
  body.on('error', (error) => decoder.destroy(error));
  return body.pipe(decoder);
}

function joined(chunks: readonly Buffer[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** What a compressed body grows to is counted, never held. @throws UnreadableAnswer; Error when connection or bytes are broken. */
export async function readAnswer(
  answer: Dispatcher.ResponseData,
  maxBytes: number,
  sentences: AnswerSentences,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLong = () => new UnreadableAnswer(sentences.tooLong);
  const length = headerOf(answer, 'content-length');
  if (BODILESS.has(answer.statusCode) || length === '0') return new Uint8Array();
  if (Number(length ?? 0) > maxBytes) throw tooLong();
  const stream = decompressed(answer.body, headerOf(answer, 'content-encoding'), sentences);
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
  return joined(chunks, size);
}

/** What goes wrong below HTTP; all the rest is "The connection failed". */
const FAILURES: Readonly<Record<string, (server: string) => string>> = {
  ENOTFOUND: (server) => `The name of the ${server} could not be found.`,
  EAI_AGAIN: (server) => `The name of the ${server} could not be found.`,
  ECONNREFUSED: (server) => `The ${server} refused the connection.`,
  UND_ERR_CONNECT_TIMEOUT: (server) => `The ${server} could not be reached in time.`,
  ETIMEDOUT: (server) => `The ${server} could not be reached in time.`,
  UND_ERR_HEADERS_OVERFLOW: (server) => `The ${server} answered with too many headers.`,
};

/** Codes by families: TLS has some thirty for certificates, zlib and brotli as many for broken data. */
const TLS_CODE = /CERT|TLS|SSL|VERIFY|^EPROTO$/;
const DECOMPRESSION_CODE = /^Z_|^ERR__|^ERR_BROTLI/;

/** Why there is no answer, or none to its end; `server` and `body` are what the caller calls the two. Holds no address. */
export function failureSentence(error: unknown, server: string, body: string): string {
  if (error instanceof AddressRefused || error instanceof UnreadableAnswer) return error.message;
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  const known = FAILURES[code];
  if (known !== undefined) return known(server);
  if (TLS_CODE.test(code)) {
    return `No secure connection to the ${server} could be made: its certificate or its TLS settings are not accepted.`;
  }
  if (DECOMPRESSION_CODE.test(code)) return `${body} is compressed in a way that could not be read.`;
  return `The connection to the ${server} failed.`;
}
