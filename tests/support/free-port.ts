/** A port that nobody listens on, for a program that is killed and comes back at the same address. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that a system gives to whoever asks for any (32,768 and up on Linux): nobody else is given it before it is used. */
const [FIRST, BEHIND_LAST] = [10_000, 32_000];

export async function freePort(host = '127.0.0.1'): Promise<number> {
  const port = randomInt(FIRST, BEHIND_LAST);
  const server = createServer().listen(port, host);
  const isFree = await once(server, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return false;
    },
  );
  if (!isFree) return freePort(host);
  server.close();
  await once(server, 'close');
  return port;
}
