/** Pages of somebody's app, on an origin of their own, in which the widget is embedded. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface HostPages {
  /** The address of the page at `path`. */
  url(path: string): string;
}

export interface HostPage {
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Served as `<path>.js`. */
  readonly script?: string;
}

/** Serves the pages, by their paths, until the test ends. */
export async function serveHostPages(t: TestContext, pages: Readonly<Record<string, HostPage>>): Promise<HostPages> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname;
    const script = path.endsWith('.js') ? pages[path.slice(0, -3)]?.script : undefined;
    const page = pages[path];
    if (script !== undefined) response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script);
    else if (page === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: (path) => `http://127.0.0.1:${port}${path}` };
}

/** A page that loads the script of the service and starts it by a script of its own, `<path>.js`. */
export function embedding(service: string, path: string, head = ''): string {
  const script = `<script src="${service}/sdk/web/latest/assistant.js" crossorigin="anonymous"></script><script src="${path}.js"></script>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head><body><main><h1>Shop</h1></main>${script}</body></html>`;
}
