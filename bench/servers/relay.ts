/**
 * The limit the service is measured against: a server that relays the model's bytes untouched. `POST /v1/chat` asks the
 * upstream through `undici` `Pool.dispatch` and writes what comes, corked, to the client. No parsing, no storage.
 * Started with `--port P --upstream http://host:port`; the model comes from `BENCH_MODEL`.
 */
import type { HttpResponse } from 'uWebSockets.js';
import uWebSockets from 'uWebSockets.js';
import type { Dispatcher } from 'undici';
import { Pool } from 'undici';

/** One answer under way: undici's handler and the client's response in one object, so a stream costs one allocation. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #res: HttpResponse;
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.#over = true;
      this.#controller?.abort(new Error('The client went away.'));
    });
    res.onWritable(() => {
      this.#controller?.resume();
      return true;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('The client went away.'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (this.#over) return;
    this.#res.cork(() => {
      this.#res.writeStatus(statusCode === 200 ? '200 OK' : '502 Bad Gateway');
      this.#res.writeHeader('Content-Type', 'text/event-stream').writeHeader('Cache-Control', 'no-cache, no-transform');
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#res.cork(() => {
      if (!this.#res.write(chunk)) controller.pause();
    });
  }

  onResponseEnd(): void {
    this.#close();
  }

  onResponseError(): void {
    this.#close();
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#res.cork(() => this.#res.end());
  }
}

function serve(port: number, upstream: string, model: string): void {
  const pool = new Pool(upstream, { connections: null, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const request: Dispatcher.DispatchOptions = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
    body: JSON.stringify({
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  };
  uWebSockets
    .App()
    .get('/healthz', (res) => {
      res.end('ok');
    })
    .post('/v1/chat', (res) => {
      const relay = new Relay(res);
      res.onData((_part, isLast) => {
        if (isLast) pool.dispatch(request, relay);
      });
    })
    .listen('127.0.0.1', port, (socket) => {
      if (socket) return;
      process.stderr.write(`bench relay: port ${port} is taken\n`);
      process.exit(1);
    });
}

function argument(name: string): string {
  const at = process.argv.indexOf(name);
  const value = at > 0 ? process.argv[at + 1] : undefined;
  if (value === undefined) throw new Error(`${name} is needed`);
  return value;
}

serve(Number(argument('--port')), argument('--upstream'), process.env.BENCH_MODEL ?? 'fake-200-0');
