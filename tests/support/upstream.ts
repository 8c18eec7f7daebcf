/**
 * A model server at the network edge that does as it is told: an OpenAI-compatible chat-completions stream over real
 * HTTP, played step by step, so that a test decides what the model says and when.
 */
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { callChunks, completionChunk, DONE, requestBody, STREAM_HEAD, usageChunk, writeWhenReady } from './completions.ts';
import { serveFake } from './fake-server.ts';

export interface UpstreamRequest {
  readonly model: string;
  readonly messages: readonly { role: string; content: string; tool_calls?: unknown; tool_call_id?: string }[];
  readonly tools?: readonly { function: { name: string; description: string; parameters: unknown } }[];
}

/** What was said: without the instructions and the time, which the service adds. */
export function said({ messages }: Pick<UpstreamRequest, 'messages'>) {
  return messages.filter(({ role, content }) => role !== 'system' && !String(content).startsWith('Now: '));
}

/** One thing the model does. `wait` holds the stream until the promise settles. */
export type Play =
  | { readonly text: string }
  | { readonly call: string; readonly args: unknown; readonly id?: string }
  | { readonly wait: Promise<unknown> }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Its word for why it ends, in place of the usual one. */
  | { readonly finish: string }
  /** How many of the tokens that it read came from its cache. */
  | { readonly cached: number }
  | { readonly reset: true };

export interface Upstream {
  readonly url: string;
  /** Every request in order. */
  readonly requests: readonly UpstreamRequest[];
  close(): Promise<void>;
}

/** What to play for the n-th request (from 0). */
export type Script = (request: UpstreamRequest, n: number) => readonly Play[] | Promise<readonly Play[]>;

const MODEL = 'scripted';

async function play(res: ServerResponse, plays: readonly Play[]): Promise<void> {
  const opening = plays[0];
  if (opening !== undefined && 'status' in opening) {
    res.writeHead(opening.status, { 'Content-Type': 'application/json', ...opening.headers });
    res.end(JSON.stringify(opening.body ?? { error: { message: 'scripted', type: 'scripted' } }));
    return;
  }
  res.writeHead(200, STREAM_HEAD);
  let calls = 0;
  let finish: string | undefined;
  let cached: number | undefined;
  let written = 0;
  for (const each of plays) {
    if (res.destroyed) return;
    if ('text' in each) {
      written += each.text.length;
      await writeWhenReady(res, completionChunk(MODEL, { content: each.text }));
    } else if ('call' in each) {
      const index = calls++;
      const call = { index, id: each.id ?? `call_${index}`, name: each.call, args: each.args };
      for (const chunk of callChunks(MODEL, call)) await writeWhenReady(res, chunk);
    } else if ('finish' in each) finish = each.finish;
    else if ('cached' in each) cached = each.cached;
    else if ('wait' in each) await each.wait;
    else if ('reset' in each) {
      res.destroy();
      return;
    }
  }
  await writeWhenReady(res, completionChunk(MODEL, {}, finish ?? (calls > 0 ? 'tool_calls' : 'stop')));
  const usage = { prompt_tokens: 100, completion_tokens: Math.max(1, Math.ceil(written / 4)) };
  const details = cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } };
  await writeWhenReady(res, usageChunk(MODEL, { ...usage, ...details }));
  res.end(DONE);
}

export async function serveUpstream(script: Script): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const { url, close } = await serveFake(async (req, res) => {
    const request = await requestBody<UpstreamRequest>(req);
    requests.push(request);
    await play(res, await script(request, requests.length - 1));
  });
  return { url: `${url()}/v1`, requests, close };
}

/** The same, for as long as the test. */
export async function startUpstream(t: TestContext, script: Script): Promise<Upstream> {
  const upstream = await serveUpstream(script);
  t.after(upstream.close);
  return upstream;
}

/** Environment that points the service at this upstream. Its first request is a test's own: the model is not asked at the start. */
export function upstreamEnv(upstream: Upstream): Record<string, string> {
  return {
    OPENAI_BASE_URL: upstream.url,
    MODEL,
    MODEL_CHECK: 'off',
    MODEL_PRICES: '{"scripted":{"input":1,"output":2}}',
    LOG_LEVEL: 'warn',
  };
}
