/**
 * A model server at the network edge that does as it is told: an OpenAI-compatible chat-completions stream over real
 * HTTP, played step by step, so that a test decides what the model says and when.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface UpstreamRequest {
  readonly model: string;
  readonly messages: readonly { role: string; content: string; tool_calls?: unknown; tool_call_id?: string }[];
  readonly tools?: readonly { function: { name: string; description: string; parameters: unknown } }[];
}

/** One thing the model does. `wait` holds the stream until the promise settles. */
export type Play =
  | { readonly text: string }
  | { readonly call: string; readonly args: unknown; readonly id?: string }
  | { readonly wait: Promise<unknown> }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Its word for why it ends, in place of the usual one. */
  | { readonly finish: string }
  | { readonly reset: true };

export interface Upstream {
  readonly url: string;
  /** Every request in order. */
  readonly requests: readonly UpstreamRequest[];
  close(): Promise<void>;
}

/** What to play for the n-th request (from 0). */
export type Script = (request: UpstreamRequest, n: number) => readonly Play[] | Promise<readonly Play[]>;

async function bodyOf(req: IncomingMessage): Promise<UpstreamRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function chunk(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

/** Writes unless the service hung up; waits for the socket when it is full. */
async function write(res: ServerResponse, text: string): Promise<void> {
  if (res.destroyed || res.write(text)) return;
  await new Promise<void>((resolve) => {
    res.once('drain', resolve);
    res.once('close', resolve);
  });
}

async function play(res: ServerResponse, plays: readonly Play[]): Promise<void> {
  const opening = plays[0];
  if (opening !== undefined && 'status' in opening) {
    res.writeHead(opening.status, { 'Content-Type': 'application/json', ...opening.headers });
    res.end(JSON.stringify(opening.body ?? { error: { message: 'scripted', type: 'scripted' } }));
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let calls = 0;
  let finish: string | undefined;
  let written = 0;
  for (const each of plays) {
    if (res.destroyed) return;
    if ('text' in each) {
      written += each.text.length;
      await write(res, chunk({ content: each.text }));
    } else if ('call' in each) {
      const index = calls++;
      const call = { index, id: each.id ?? `call_${index}`, type: 'function', function: { name: each.call, arguments: '' } };
      await write(res, chunk({ tool_calls: [call] }));
      const text = typeof each.args === 'string' ? each.args : JSON.stringify(each.args);
      await write(res, chunk({ tool_calls: [{ index, function: { arguments: text } }] }));
    } else if ('finish' in each) finish = each.finish;
    else if ('wait' in each) await each.wait;
    else if ('reset' in each) {
      res.destroy();
      return;
    }
  }
  await write(res, chunk({}, finish ?? (calls > 0 ? 'tool_calls' : 'stop')));
  const usage = { prompt_tokens: 100, completion_tokens: Math.max(1, Math.ceil(written / 4)) };
  await write(res, `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'scripted', choices: [], usage })}\n\n`);
  res.end('data: [DONE]\n\n');
}

export async function startUpstream(t: TestContext, script: Script): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const server = createServer(async (req, res) => {
    const request = await bodyOf(req);
    requests.push(request);
    await play(res, await script(request, requests.length - 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.after(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, close };
}

/** Environment that points the service at this upstream. Its first request is a test's own: the model is not asked at the start. */
export function upstreamEnv(upstream: Upstream): Record<string, string> {
  return {
    OPENAI_BASE_URL: upstream.url,
    MODEL: 'scripted',
    MODEL_CHECK: 'off',
    MODEL_PRICES: '{"scripted":{"input":1,"output":2}}',
    LOG_LEVEL: 'warn',
  };
}
