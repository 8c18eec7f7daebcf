/** An HTTP server of the test's own, at which the service finds what it calls: a model, a site, an app's backend, another cell. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeServer {
  readonly server: Server;
  /** `host`: where it listens on all addresses. */
  url(host?: string): string;
  close(): Promise<void>;
}

/** Listens on a free port of loopback, or of the address given. `close` ends its connections too. */
export async function serveFake(answer: RequestListener, listenOn = '127.0.0.1'): Promise<FakeServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: (host = '127.0.0.1') => `http://${host}:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        // One that was on its way is not among them.
        server.on('connection', (socket) => socket.destroy());
      }),
  };
}
