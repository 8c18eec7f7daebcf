/** A real server around given routes, with services that hold only what the gateway itself asks for. */

import type { TestContext } from 'node:test';
import pino from 'pino';
import { ownCounts } from '../../actors/cluster/bus/shared-counts.ts';
import type { Route } from '../../gateway/route.ts';
import { type ServerOptions, startServer } from '../../gateway/server.ts';
import type { Services } from '../../gateway/services.ts';
import { Conditions } from '../../storage/health/conditions.ts';
import { servingNode } from '../support/node.ts';

export interface TestServer {
  readonly base: string;
  readonly port: number;
  readonly logged: readonly Record<string, unknown>[];
  openStreams(): number;
  drain(timeoutMs: number): Promise<void>;
}

/** Starts on a free port and ends with the test. */
export async function serve(
  t: TestContext,
  routes: readonly Route[],
  services: Partial<Services> = {},
  streamTimes: ServerOptions['streamTimes'] = {},
): Promise<TestServer> {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const storage = {
    layout: { lastBackup: '/nonexistent/last-backup' },
    conditions: new Conditions(log, () => Date.now()),
    stats: () => ({ outstanding: 0, succeeded: 3, failed: 0, overloaded: 0, commits: 1, largestGroup: 3, busyRetries: 0 }),
  };
  const actors = { host: { stats: () => ({ runningTurns: 0, waitingTurns: 0, readers: 0 }) } };
  const config = { publicUrl: undefined, operatorToken: undefined, allowPrivateAddresses: false };
  const setup = { settled: () => Promise.resolve() };
  const billing = { seen: () => {} };
  const node = services.node ?? servingNode();
  const defaults = {
    config,
    log,
    storage,
    actors,
    billing,
    setup,
    counts: ownCounts,
    nowMs: () => performance.now(),
    node,
  };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    services: { ...defaults, ...services } as unknown as Services,
    routes,
    streamTimes: streamTimes ?? {},
  });
  t.after(() => server.close());
  const drain = (timeoutMs: number) => {
    node.send({ type: 'drain' });
    return server.drain(timeoutMs);
  };
  return { base: `http://127.0.0.1:${server.port}`, port: server.port, logged, openStreams: () => node.get().context.streams, drain };
}
