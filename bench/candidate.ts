/** What can be measured: a way to start a server for one workload and to ask it for a turn. Holds the raw relay's. */
import { join } from 'node:path';
import { freePort, type Running, SERVER_CORE, start } from './processes.ts';

/** Where one candidate plays one workload. */
export interface Scene {
  readonly model: string;
  /** Origin of the fake model, without a path. */
  readonly upstream: string;
  /** Exists; logs and request files go here. */
  readonly outDir: string;
}

/** A server that is ready, and how the load client asks it. */
export interface Target {
  /** Names the files that the load client is given. */
  readonly name: string;
  readonly process: Running;
  readonly port: number;
  readonly path: string;
  /** `Name: value` lines; `%DEVICE%` becomes 32 hex characters per connection. */
  readonly headers: readonly string[];
  /** `%TURN%` becomes a fresh uuid per request. */
  readonly body: string;
  /** How the load client reads the answer: the upstream's own chunks, or the service's events. */
  readonly mode: 'relay' | 'service';
  /** Ends the server and removes what it stored. */
  stop(): Promise<void>;
}

export interface Candidate {
  readonly name: string;
  start(scene: Scene): Promise<Target>;
}

/** The service of `--against`, as a candidate. */
export const EARLIER = 'earlier';

/** The raw relay: the limit the others are compared with. */
export const relay: Candidate = {
  name: 'relay',
  async start(scene: Scene): Promise<Target> {
    const port = await freePort();
    const process = await start({
      name: 'relay',
      core: SERVER_CORE,
      file: join(import.meta.dirname, 'relay.js'),
      args: ['--port', String(port), '--upstream', scene.upstream],
      env: { BENCH_MODEL: scene.model },
      logFile: join(scene.outDir, 'relay.log'),
      readyUrl: `http://127.0.0.1:${port}/healthz`,
    });
    return {
      name: 'relay',
      process,
      port,
      path: '/v1/chat',
      headers: ['Content-Type: application/json'],
      body: '{"turn_id":"%TURN%","message":{"text":"Hello"}}',
      mode: 'relay',
      stop: () => process.stop(),
    };
  },
};
