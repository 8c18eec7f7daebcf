/** An app's own server at the network edge: counts what reaches it and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

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
  const server = createServer(async (incoming, response) => {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
