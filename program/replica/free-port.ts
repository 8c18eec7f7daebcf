/** Where a program listens that this machine alone talks to. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
