/**
 * The Assistant Service: starts it on an empty data directory and makes organizations and apps in it through the console
 * interface. As a candidate it has the fake model behind it and a live app with limits out of the way; so has an earlier build.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { litestreamBin } from '../../tests/support/litestream.ts';
import { diskOfRun, type SlowDisk } from '../meters/slow-disk.ts';
import { type AnswerForm, type Build, type Candidate, EARLIER, type Role, type Scene, type Target } from './candidate.ts';
import { freePort, newDataDir, SERVER_CORE, start } from './processes.ts';

/** The most the console accepts. The caps are per device and every connection is a device of its own: a run stays below. */
const MESSAGES_PER_MINUTE = 10_000;
const MESSAGES_PER_DAY = 10_000_000;

/** A directory keeps no token, and may be started on again. */
const OPERATOR_TOKEN = 'operator-token-of-all-benchmarks';

const SERVICE = join(import.meta.dirname, '../../main.js');

export const CLIENT = { protocol: 1, sdk: 'web/0.50.0', catalog_version: '2026-11.a', components: ['text'] };

/** As SDKs greet: with all that they can draw. The request to the model then carries the definition of every tool. */
const ALL_COMPONENTS = [...CATALOG.keys()];

const EVENTS: AnswerForm = {
  text: { event: 'block.delta', after: '"text_delta":"' },
  end: { event: 'turn.end', in: '"completed"' },
  error: { event: 'error' },
};

export interface Console {
  /** The body of the answer. @throws for anything but 2xx. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

export function consoleOf(origin: string, token: string): Console {
  return {
    async call(method, path, body) {
      const response = await fetch(`${origin}/console/api${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
  };
}

export async function createOrganisation(operator: Console): Promise<string> {
  const { org } = (await operator.call('POST', '/orgs', { name: 'Bench', plan: 'scale' })) as { org: { id: string } };
  return org.id;
}

export async function createApp(operator: Console, organisationId: string): Promise<{ readonly appId: string; readonly liveKey: string }> {
  const { app, keys } = (await operator.call('POST', `/orgs/${organisationId}/apps`, { name: 'Bench' })) as {
    app: { id: string };
    keys: { live: string };
  };
  return { appId: app.id, liveKey: keys.live };
}

/** An app that is live, with limits out of the way. */
export type LiveApp = Awaited<ReturnType<typeof createLiveAppIn>>;

export async function createLiveApp(operator: Console): Promise<LiveApp> {
  return createLiveAppIn(operator, await createOrganisation(operator));
}

/** As `createLiveApp`, in an organisation that is there. */
export async function createLiveAppIn(operator: Console, organisationId: string) {
  const { appId, liveKey } = await createApp(operator, organisationId);
  await operator.call('PATCH', `/apps/${appId}`, {
    messages_per_minute: MESSAGES_PER_MINUTE,
    messages_per_day: MESSAGES_PER_DAY,
    // All load comes from one address.
    messages_per_minute_per_address: 0,
    messages_per_day_per_address: 0,
  });
  await operator.call('POST', `/apps/${appId}/go-live`);
  return { organisationId, appId, liveKey };
}

export type Server = Awaited<ReturnType<typeof startProgram>>;

interface ServerPlace {
  readonly name: string;
  readonly core: number;
  readonly dataDir: string;
  readonly outDir: string;
  /** Says, among others, which model it has (none: offline answers). */
  readonly env: Readonly<Record<string, string>>;
  /** The compiled program; by default the one beside this benchmark. */
  readonly file?: string | undefined;
  /** By default the one that the run asks for. */
  readonly disk?: SlowDisk | undefined;
  readonly readyTimeoutMs?: number | undefined;
}

export async function startProgram(place: ServerPlace) {
  const { name, core, dataDir, outDir, env, file = SERVICE, disk = diskOfRun(outDir, name), readyTimeoutMs } = place;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const process = await start({
    name,
    core,
    file,
    args: [],
    env: { HOST: '127.0.0.1', PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn', OPERATOR_TOKEN, ...disk?.env, ...env },
    logFile: join(outDir, `${name}.log`),
    readyUrl: `${origin}/readyz`,
    readyTimeoutMs,
  });
  const token = env.OPERATOR_TOKEN ?? OPERATOR_TOKEN;
  const operator = consoleOf(origin, token);
  return { process, port, origin, operator, dataDir, disk, stop: () => process.stop() };
}

/** A data directory for as long as `work` needs it: removed when `work` fails, by whoever calls `remove`, or with this process. */
export async function withDataDir<T>(work: (dataDir: string, remove: () => void) => Promise<T>): Promise<T> {
  const { path, remove } = newDataDir('assistant-bench');
  try {
    return await work(path, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

/** Starts the program on an empty data directory, on the server's core, and removes with it what it stored. */
export function startServer(
  outDir: string,
  env: Readonly<Record<string, string>>,
  name = 'service',
  other: Pick<ServerPlace, 'file' | 'disk'> = {},
): Promise<Server> {
  return withDataDir(async (dataDir, remove) => {
    const server = await startProgram({ name, core: SERVER_CORE, dataDir, outDir, env, ...other });
    const stop = async (): Promise<void> => {
      await server.stop();
      remove();
    };
    try {
      // It has made its files by now.
      server.disk?.check();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return { ...server, stop };
  });
}

export function modelEnv({ model, upstream }: Pick<Scene, 'model' | 'upstream'>): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${upstream}/v1`,
    OPENAI_API_KEY: 'x',
    MODEL: model,
    MODEL_CHECK: 'off',
    // Free of charge: a run must not end in an exhausted usage credit.
    MODEL_PRICES: JSON.stringify({ [model]: { input: 0, output: 0 } }),
  };
}

/** How the load client asks a server for turns of an app; ending the target ends the server. */
export function targetOf(server: Server, liveKey: string, name: string, components: readonly string[] = CLIENT.components): Target {
  return {
    name,
    process: server.process,
    port: server.port,
    path: '/v1/chat',
    headers: ['Content-Type: application/json', `X-Service-Key: ${liveKey}`, 'X-Service-Device: %DEVICE%'],
    body: `{"turn_id":"%TURN%","message":{"text":"Hello"},"client":${JSON.stringify({ ...CLIENT, components })}}`,
    answer: EVENTS,
    dataDir: server.dataDir,
    disk: server.disk,
    stop: server.stop,
  };
}

async function startService(scene: Scene, name: string, { file, components }: Build): Promise<Target> {
  const server = await startServer(scene.outDir, { ...modelEnv(scene), ...scene.env }, name, { file, disk: scene.disk });
  try {
    return targetOf(server, (await createLiveApp(server.operator)).liveKey, name, components);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function candidateOf(name: string, what: string, role: Role, build: Build): Candidate {
  return { name, what, role, build, start: (scene) => startService(scene, name, build) };
}

export const service: Candidate = candidateOf('service', 'this service, a client that draws text alone', 'service', {
  components: CLIENT.components,
});

export const serviceWithAll: Candidate = candidateOf('service-all', 'this service, a client that draws all components', 'service', {
  components: ALL_COMPONENTS,
});

/** The same with REPLICA_URL, to a folder on the same disk. Litestream runs on the server's core and counts as part of it. */
export const replicatedService: Candidate = {
  name: 'service-replicated',
  what: 'this service while Litestream replicates it, text alone',
  role: 'service',
  build: { components: CLIENT.components },
  async start(scene) {
    const { path, remove } = newDataDir('assistant-bench-replica');
    const env = { ...scene.env, REPLICA_URL: `file://${path}`, LITESTREAM_BIN: process.env.LITESTREAM_BIN ?? litestreamBin() };
    try {
      const target = await startService({ ...scene, env }, 'service-replicated', { components: CLIENT.components });
      const stop = async (): Promise<void> => {
        await target.stop();
        remove();
      };
      return { ...target, stop };
    } catch (error) {
      remove();
      throw error;
    }
  },
};

/** The compiled program of another build, whose compiler wrote `dist`; undefined when there is none. */
export function programOf(dist: string): string | undefined {
  // Builds of before the rooms stood at the top have it one folder deeper.
  return [join(dist, 'main.js'), join(dist, 'src/main.js')].find((path) => existsSync(path));
}

export function earlierService(file: string): Candidate {
  return candidateOf(EARLIER, 'another build of this service, text alone', 'earlier', { file, components: CLIENT.components });
}
