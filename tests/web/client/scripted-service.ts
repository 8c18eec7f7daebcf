/** A service at the network edge that answers as a test says, request by request, for what the real one does too rarely. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { serveFake } from '../../support/fake-server.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers the n-th request of its path (from 0). */
export type Answer = (response: ServerResponse, asked: Asked, n: number) => void;

export interface ScriptedService {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Requests of this method and path. */
  of(method: string, path: string): readonly Asked[];
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Opens a stream and tells these events, with their places as numbers. */
export function tell(response: ServerResponse, events: readonly StreamEvent[], from = 0): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write(': open\n\n');
  for (const [at, event] of events.entries()) response.write(renderEvent(from + at, event));
}

/** `answers`: by method and path, such as `GET /v1/apps/config`. A path below `/v1/chat/` counts as that of its turn. */
export async function startScriptedService(t: TestContext, answers: Readonly<Record<string, Answer>>): Promise<ScriptedService> {
  const asked: Asked[] = [];
  const counts = new Map<string, number>();
  const { url, close } = await serveFake(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const one: Asked = { method: request.method ?? '', path, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
    asked.push(one);
    const name = `${one.method} ${path.replace(/^(\/v1\/chat\/)[^/]+/, '$1:turn_id')}`;
    const n = counts.get(name) ?? 0;
    counts.set(name, n + 1);
    const answer = answers[name];
    if (answer === undefined) sendJson(response, 404, { error: { code: 'invalid_request', message: `nothing is scripted for ${name}` } });
    else answer(response, one, n);
  });
  t.after(close);
  return { url: url(), asked, of: (method, path) => asked.filter((each) => each.method === method && each.path === path) };
}
