/**
 * The Assistant Service: starts it on an empty data directory and makes organizations and apps in it through the console
 * interface. As a candidate it has the fake model behind it and a live app with limits out of the way.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Candidate, Scene, Target } from './candidate.ts';
import { freePort, type Running, SERVER_CORE, start } from './processes.ts';

/** The most the console accepts. The caps are per device and every connection is a device of its own: a run stays below. */
const MESSAGES_PER_MINUTE = 10_000;
const MESSAGES_PER_DAY = 10_000_000;

const CLIENT = { protocol: 1, sdk: 'web/0.50.0', catalog_version: '2026-11.a', components: ['text'] };

/** The console interface as its operator. */
export interface Console {
  /** The body of the answer. @throws for anything but 2xx. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

function consoleOf(origin: string, token: string): Console {
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

/** An app that is not live: its id and its live key. */
export async function createApp(operator: Console, organisationId: string): Promise<{ readonly appId: string; readonly liveKey: string }> {
  const { app, keys } = (await operator.call('POST', `/orgs/${organisationId}/apps`, { name: 'Bench' })) as {
    app: { id: string };
    keys: { live: string };
  };
  return { appId: app.id, liveKey: keys.live };
}

/** Makes the app that the load client talks to; returns its live key. */
async function createLiveApp(operator: Console): Promise<string> {
  const { appId, liveKey } = await createApp(operator, await createOrganisation(operator));
  await operator.call('PATCH', `/apps/${appId}`, { messages_per_minute: MESSAGES_PER_MINUTE, messages_per_day: MESSAGES_PER_DAY });
  await operator.call('POST', `/apps/${appId}/go-live`);
  return liveKey;
}

/** The running program, without anything in it yet. */
export interface Server {
  readonly process: Running;
  readonly port: number;
  readonly origin: string;
  readonly operator: Console;
  /** Ends it and removes what it stored. */
  stop(): Promise<void>;
}

/** Starts the program on an empty data directory, on the server's core; `env` says which model it has (none: offline answers). */
export async function startServer(outDir: string, env: Readonly<Record<string, string>>): Promise<Server> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'assistant-bench-'));
  const removeData = (): void => rmSync(dataDir, { recursive: true, force: true });
  try {
    const process = await start({
      name: 'service',
      core: SERVER_CORE,
      file: join(import.meta.dirname, '../src/main.js'),
      args: [],
      env: { HOST: '127.0.0.1', PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env },
      logFile: join(outDir, 'service.log'),
      readyUrl: `${origin}/readyz`,
    });
    const operator = consoleOf(origin, readFileSync(join(dataDir, 'operator-token'), 'utf8').trim());
    const stop = async (): Promise<void> => {
      await process.stop();
      removeData();
    };
    return { process, port, origin, operator, stop };
  } catch (error) {
    removeData();
    throw error;
  }
}

async function startService(scene: Scene): Promise<Target> {
  const server = await startServer(scene.outDir, {
    OPENAI_BASE_URL: `${scene.upstream}/v1`,
    OPENAI_API_KEY: 'x',
    MODEL: scene.model,
    // Free of charge: a run must not end in an exhausted usage credit.
    MODEL_PRICES: JSON.stringify({ [scene.model]: { input: 0, output: 0 } }),
  });
  try {
    const key = await createLiveApp(server.operator);
    return {
      process: server.process,
      port: server.port,
      path: '/v1/chat',
      headers: ['Content-Type: application/json', `X-Service-Key: ${key}`, 'X-Service-Device: %DEVICE%'],
      body: `{"turn_id":"%TURN%","message":{"text":"Hello"},"client":${JSON.stringify(CLIENT)}}`,
      mode: 'service',
      stop: server.stop,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

export const service: Candidate = { name: 'service', start: startService };
