/**
 * The wire of an OpenAI-compatible chat-completions stream, for every fake model of the tests and of the bench: what is written is the same
 * everywhere, when and what for is each one's own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface TokenUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
}

/** Any moment: a client reads nothing from it. */
const CREATED_S = 1_760_000_000;

function line(model: string, choices: readonly object[], usage?: TokenUsage): string {
  const total = usage === undefined ? {} : { usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } };
  const chunk = { id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: CREATED_S, model, choices, ...total };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** One event of the stream: what the model adds, or why it ends. */
export function completionChunk(model: string, delta: object, finishReason: string | null = null): string {
  return line(model, [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]);
}

/** The event with what the request cost, which has no choice. */
export function usageChunk(model: string, usage: TokenUsage): string {
  return line(model, [], usage);
}

/** A call of a function as two events: its name, and its arguments, JSON or text as it is. */
export function callChunks(
  model: string,
  { index = 0, id, name, args }: { index?: number; id: string; name: string; args: unknown },
): string[] {
  const start = { index, id, type: 'function', function: { name, arguments: '' } };
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return [
    completionChunk(model, { tool_calls: [start] }),
    completionChunk(model, { tool_calls: [{ index, function: { arguments: text } }] }),
  ];
}

/** The last event. */
export const DONE = 'data: [DONE]\n\n';

export const STREAM_HEAD = { 'Content-Type': 'text/event-stream' };

/** What a request asks for. @throws SyntaxError for what is no JSON. */
export async function requestBody<Body>(req: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Writes unless the client hung up; waits for the socket when it is full. */
export async function writeWhenReady(res: ServerResponse, text: string | Uint8Array): Promise<void> {
  if (res.destroyed || res.write(text)) return;
  await new Promise<void>((resolve) => {
    res.once('drain', resolve);
    res.once('close', resolve);
  });
}
