/** An app's own server at the network edge: counts what reaches it and answers as it is told. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { serveFake } from './fake-server.ts';

export interface BackendRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request; the default is `{ "ok": true }`. */
export type BackendAnswer = (request: BackendRequest, response: ServerResponse) => void | Promise<void>;

export interface Backend {
  readonly url: string;
  readonly requests: readonly BackendRequest[];
  /** From here on. */
  answer(next: BackendAnswer): void;
  /** Forgets the requests so far. */
  clear(): void;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

export async function startBackend(t: TestContext): Promise<Backend> {
  let requests: BackendRequest[] = [];
  let answer: BackendAnswer = (_, response) => sendJson(response, { ok: true });
  const { url, close } = await serveFake(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    requests.push(request);
    await answer(request, response);
  });
  t.after(close);
  return {
    url: url(),
    get requests() {
      return requests;
    },
    answer(next) {
      answer = next;
    },
    clear() {
      requests = [];
    },
  };
}
