/** A way to Redis that can be cut: packets are then lost without a word, as when a network is down, and no connection ends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface CutNetwork {
  readonly url: string;
  /** Nothing goes through any more, in connections that stand and in new ones. */
  cut(): void;
  /** New connections go through; what was lost stays lost. */
  mend(): void;
}

export async function openNetwork(t: TestContext, port: number): Promise<CutNetwork> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      sockets.add(near);
      near.on('error', () => {});
      return;
    }
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('data', (data) => void (isCut || to.write(data)));
      from.on('close', () => void (isCut || to.destroy()));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
    },
  };
}
