/** The way to a server that speaks OpenAI's `POST /embeddings`: bounded, patient when asked to be, and all vectors of one dimension. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { withoutEnd } from '../../protocol/schema/text.ts';
import { Pool } from '../http/undici.ts';
import { withoutEcho } from '../models/stream/echo.ts';
import { answerFailure, connectionFailure } from '../models/stream/upstream-failure.ts';

export class EmbeddingError extends Error {
  /** `texts`: the server refused what it was sent, and may take other texts; `server`: it takes nothing now. */
  readonly about: 'texts' | 'server';

  constructor(about: 'texts' | 'server', message: string) {
    super(message);
    this.name = 'EmbeddingError';
    this.about = about;
  }
}

/** No model in use has more; it bounds what a vector costs to keep and to compare. */
export const DIMENSIONS_MAX = 4_096;

function malformed(what: string): EmbeddingError {
  return new EmbeddingError('server', `The embeddings server's answer cannot be used: ${what}.`);
}

/** Numbers as they are, or in base64 as little-endian 32-bit floats (OpenAI's `encoding_format`). */
function vectorOf(embedding: unknown): Float32Array {
  if (Array.isArray(embedding)) return Float32Array.from(embedding, (value) => (typeof value === 'number' ? value : Number.NaN));
  if (typeof embedding !== 'string') throw malformed('a vector is neither a list of numbers nor base64');
  const bytes = Buffer.from(embedding, 'base64');
  if (bytes.length % 4 !== 0) throw malformed('a vector in base64 is cut off');
  const vector = new Float32Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index++) vector[index] = bytes.readFloatLE(index * 4);
  return vector;
}

function checked(vector: Float32Array): Float32Array {
  if (vector.length === 0 || vector.length > DIMENSIONS_MAX) {
    throw malformed(`a vector has ${vector.length} numbers, and it may have 1 to ${DIMENSIONS_MAX}`);
  }
  if (!vector.every(Number.isFinite)) throw malformed('a vector holds something that is no number');
  return vector;
}

/** The vectors of `{ data: [{ index, embedding }] }` by their index. @throws EmbeddingError unless there are exactly `count`. */
export function readVectors(text: string, count: number): Float32Array[] {
  let answer: { data?: unknown } | null;
  try {
    answer = JSON.parse(text);
  } catch {
    throw malformed('it is not JSON');
  }
  const data = answer?.data;
  if (!Array.isArray(data) || data.length !== count) throw malformed(`it should hold ${count} vectors`);
  const vectors = new Map<number, Float32Array>();
  for (const [position, item] of data.entries()) {
    const { index, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    vectors.set(typeof index === 'number' ? index : position, checked(vectorOf(embedding)));
  }
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (vector === undefined) throw malformed(`the vector of text ${index} is missing`);
    return vector;
  });
}

/** Texts of one request: servers allow from 32 (small ones of one's own) to 2,048. */
export const BATCH_TEXTS_MAX = 32;
/** Their characters: some 25,000 tokens, far below what any server takes at once. */
export const BATCH_CHARS_MAX = 100_000;
/** Questions are embedded as they come; more than these wait for a connection. */
const CONNECTIONS_MAX = 32;
/** Enough for a batch on a machine without a GPU; a question gives up earlier by its signal. */
const REQUEST_TIMEOUT_MS = 60_000;
/** After 429 or 503. */
const RETRIES_MAX = 2;
const RETRY_MS = 500;
/** However long the server asks for: who waits for longer begins anew. */
const RETRY_AFTER_MAX_MS = 10_000;
/** 32 vectors of 4,096 numbers, 22 characters each. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

const LATER = new Set([429, 503]);
/** What a server says of a text that is too long for it, or that it cannot read. */
const TEXTS_REFUSED = new Set([400, 413, 422]);

export interface Embedder {
  /** Vectors of different models cannot be compared; whoever keeps them keeps this beside them. */
  readonly name: string;
  /** In order, all of one dimension. @throws EmbeddingError with a sentence; the reason of `signal`. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedderOptions {
  readonly apiKey?: string | undefined;
  readonly baseUrl: string;
  readonly model: string;
  /** Before the first retry when the server does not say; twice as much before the second. */
  readonly retryMs?: number;
  readonly timeoutMs?: number;
}

function batches(texts: readonly string[]): string[][] {
  const all: string[][] = [];
  let batch: string[] = [];
  let chars = 0;
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === BATCH_TEXTS_MAX || chars + text.length > BATCH_CHARS_MAX)) {
      all.push(batch);
      batch = [];
      chars = 0;
    }
    batch.push(text);
    chars += text.length;
  }
  if (batch.length > 0) all.push(batch);
  return all;
}

/** Seconds or a date, as HTTP allows both; undefined when it is neither. */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > ANSWER_MAX_BYTES) throw new EmbeddingError('server', 'The embeddings server sent more than its vectors can need.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Throws a TypeError when `baseUrl` is no http(s) URL. `close` ends what is under way. */
export function createEmbedder(options: EmbedderOptions): Embedder {
  const { apiKey, model, retryMs = RETRY_MS, timeoutMs = REQUEST_TIMEOUT_MS } = options;
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'http:' && base.protocol !== 'https:') throw new TypeError('baseUrl must be an http or https URL');
  const path = `${withoutEnd(base.pathname, '/')}/embeddings${base.search}`;
  const pool = new Pool(base.origin, { connections: CONNECTIONS_MAX, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (apiKey !== undefined && apiKey !== '') headers.authorization = `Bearer ${apiKey}`;

  async function send(body: string, signal: AbortSignal | undefined) {
    try {
      const answer = await pool.request({ path, method: 'POST', headers, body, signal: signal ?? null });
      return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer.body) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EmbeddingError) throw error;
      throw new EmbeddingError('server', `The embeddings server could not be asked: ${connectionFailure(error, false).detail}.`);
    }
  }

  async function embedBatch(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    // Base64 is read some twenty times as fast as numbers; a server that knows only numbers sends those.
    const body = JSON.stringify({ model, input: texts, encoding_format: 'base64' });
    for (let retries = 0; ; retries++) {
      const { status, headers: said, text } = await send(body, signal);
      if (status < 300) return readVectors(text, texts.length);
      if (!LATER.has(status) || retries === RETRIES_MAX) {
        const { detail } = answerFailure({ status, contentType: String(said['content-type'] ?? ''), body: text }, apiKey);
        throw new EmbeddingError(
          TEXTS_REFUSED.has(status) ? 'texts' : 'server',
          `The embeddings server answered: ${withoutEcho(detail, texts)}.`,
        );
      }
      try {
        await pause(retryAfterMs(said['retry-after']) ?? retryMs * 2 ** retries, undefined, signal === undefined ? {} : { signal });
      } catch {
        signal?.throwIfAborted();
      }
    }
  }

  return {
    name: model,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const batch of batches(texts)) {
        for (const vector of await embedBatch(batch, signal)) {
          if (vector.length !== (vectors[0] ?? vector).length) {
            const lengths = `${vectors[0]?.length} and ${vector.length}`;
            throw new EmbeddingError('server', `The embeddings server sent vectors of ${lengths} numbers for one model.`);
          }
          vectors.push(vector);
        }
      }
      return vectors;
    },
    close: () => pool.destroy(),
  };
}
