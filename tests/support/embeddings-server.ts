/**
 * A model server at the network edge with a small understanding of its own: it knows some synonyms, so that texts without
 * a common word can mean the same. Serves `/embeddings` as it is told to, and a plain chat stream.
 */
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { completionChunk, DONE, requestBody, STREAM_HEAD } from './completions.ts';
import { serveFake } from './fake-server.ts';
import type { UpstreamRequest } from './upstream.ts';

export const DIMENSIONS = 512;

/** Words by what they mean; a word of no row means itself. */
const CONCEPTS = [
  ['refund', 'refunds', 'money', 'back', 'reimbursement'],
  ['days', 'fortnight', 'deadline'],
  ['parcel', 'parcels', 'shipment', 'package'],
  ['courier', 'driver', 'carrier'],
  ['opening', 'hours', 'schedule'],
];

function conceptOf(word: string): string {
  return CONCEPTS.find((words) => words.includes(word))?.[0] ?? word;
}

/** A bag of concepts: how often each occurs, at a place that its letters give. */
export function meaningOf(text: string, dimensions = DIMENSIONS): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    let hash = 2_166_136_261;
    for (const char of conceptOf(word)) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0;
    const place = hash % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}

export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format?: string;
}

export interface EmbeddingsServer {
  readonly url: string;
  /** What was asked of `/embeddings`, in order. */
  readonly asked: readonly EmbeddingsRequest[];
  readonly authorization: readonly (string | undefined)[];
  /** What was asked of `/chat/completions`, in order. */
  readonly chats: readonly UpstreamRequest[];
  /** How `/embeddings` answers from now on; undefined: with the meanings of the texts. */
  answer: ((request: EmbeddingsRequest, res: ServerResponse) => void) | undefined;
  /** What the chat stream does; undefined: says Hello. */
  chat: ((request: UpstreamRequest) => object) | undefined;
  /** Every text that was ever sent to be embedded. */
  texts(): string[];
}

export function sendVectors(res: ServerResponse, vectors: readonly (readonly number[] | string)[]): void {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ object: 'list', data, model: 'played' }));
}

export function sendError(res: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  const error = { message: 'not now', type: 'played_error', code: null };
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ error }));
}

/** Base64 of little-endian floats, as `encoding_format: "base64"` asks for. */
export function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

function sendChat(res: ServerResponse, delta: object): void {
  res.writeHead(200, STREAM_HEAD);
  res.end(completionChunk('played', delta) + completionChunk('played', {}, 'tool_calls' in delta ? 'tool_calls' : 'stop') + DONE);
}

export async function startEmbeddingsServer(t: TestContext): Promise<EmbeddingsServer> {
  const asked: EmbeddingsRequest[] = [];
  const authorization: (string | undefined)[] = [];
  const chats: UpstreamRequest[] = [];
  const { url, close } = await serveFake(async (req, res) => {
    const body = await requestBody<unknown>(req);
    if (req.url === '/v1/chat/completions') {
      const request = body as UpstreamRequest;
      chats.push(request);
      sendChat(res, played.chat?.(request) ?? { content: 'Hello.' });
      return;
    }
    const request = body as EmbeddingsRequest;
    asked.push(request);
    authorization.push(req.headers.authorization);
    if (played.answer !== undefined) played.answer(request, res);
    else
      sendVectors(
        res,
        request.input.map((text) => base64Of(meaningOf(text))),
      );
  });
  const played: EmbeddingsServer = {
    url: `${url()}/v1`,
    asked,
    authorization,
    chats,
    answer: undefined,
    chat: undefined,
    texts: () => asked.flatMap(({ input }) => input),
  };
  t.after(close);
  return played;
}
