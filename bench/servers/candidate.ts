/** What can be measured: a way to start a server for one workload and to ask it for a turn. Holds the raw relay's. */
import { join } from 'node:path';
import type { SlowDisk } from '../meters/slow-disk.ts';
import { freePort, type Running, SERVER_CORE, start } from './processes.ts';

/** Where one candidate plays one workload. */
export interface Scene {
  readonly model: string;
  /** Origin of the fake model, without a path. */
  readonly upstream: string;
  /** The most turns that will be open at a time: servers that have to be told how many they may run are told this. */
  readonly streams: number;
  /** Exists; logs and request files go here. */
  readonly outDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What a server that stores something stores it on; absent: what the run asks for. */
  readonly disk?: SlowDisk;
}

/** What a line of the answer is told by: what it holds, and the name of the server-sent event that it stands in. */
export interface Mark {
  readonly in?: string | undefined;
  readonly event?: string | undefined;
}

/** How the answer of a server reads. A stream is whole when its text was all there, its end was told and no error was. */
export interface AnswerForm {
  /** The text is the JSON string that follows `after`. */
  readonly text: Mark & { readonly after: string };
  /** Absent where the end of the body is all there is. */
  readonly end?: Mark | undefined;
  readonly error?: Mark | undefined;
}

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
  readonly answer: AnswerForm;
  /** Where it keeps what it stores; absent where it stores nothing. */
  readonly dataDir?: string;
  readonly disk?: SlowDisk | undefined;
  stop(): Promise<void>;
}

/** What a server is to the others of a run. */
export type Role = 'limit' | 'service' | 'earlier' | 'peer';

export interface Build {
  /** The compiled program; undefined: the one beside this benchmark. */
  readonly file?: string | undefined;
  /** What its client draws. */
  readonly components: readonly string[];
}

export interface Candidate {
  readonly name: string;
  readonly what: string;
  readonly role: Role;
  /** A peer's packages and their versions. */
  readonly versions?: Readonly<Record<string, string>>;
  /** What a peer keeps of a turn, and what was chosen for it. */
  readonly keeps?: string;
  readonly notes?: string;
  /** Slow streams that it is asked to hold in W6; undefined: as many as the service. */
  readonly openStreams?: number;
  /** What makes it one of the service; questions start it in their own way. */
  readonly build?: Build;
  start(scene: Scene): Promise<Target>;
}

export const EARLIER = 'earlier';

/** Chunks of an OpenAI-compatible stream, as the relay and gateways pass them on. */
const CHUNKS: AnswerForm = { text: { after: '"content":"' }, end: { in: '[DONE]' } };

/** The raw relay: the limit the others are compared with. */
export const relay: Candidate = {
  name: 'relay',
  what: "the model's bytes passed on untouched",
  role: 'limit',
  async start(scene: Scene): Promise<Target> {
    const port = await freePort();
    const process = await start({
      name: 'relay',
      core: SERVER_CORE,
      file: join(import.meta.dirname, 'relay.js'),
      args: ['--port', String(port), '--upstream', scene.upstream],
      env: { BENCH_MODEL: scene.model, ...scene.env },
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
      answer: CHUNKS,
      stop: () => process.stop(),
    };
  },
};
