/**
 * The Assistant Service as a candidate: starts it on an empty data directory with the fake model behind it, makes an
 * organization and a live app with limits out of the way through the console interface, and says how to ask for a turn.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Candidate, Scene, Target } from './candidate.ts';
import { freePort, SERVER_CORE, start } from './processes.ts';

/** The most the console accepts. The caps are per device and every connection is a device of its own: a run stays below. */
const MESSAGES_PER_MINUTE = 10_000;
const MESSAGES_PER_DAY = 10_000_000;

const CLIENT = { protocol: 1, sdk: 'web/0.50.0', catalog_version: '2026-11.a', components: ['text'] };

interface Console {
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

/** Makes the app that the load client talks to; returns its live key. */
async function createApp(operator: Console): Promise<string> {
  const { org } = (await operator.call('POST', '/orgs', { name: 'Bench', plan: 'scale' })) as { org: { id: string } };
  const { app, keys } = (await operator.call('POST', `/orgs/${org.id}/apps`, { name: 'Bench', slug: 'bench' })) as {
    app: { id: string };
    keys: { live: string };
  };
  await operator.call('PATCH', `/apps/${app.id}`, { messages_per_minute: MESSAGES_PER_MINUTE, messages_per_day: MESSAGES_PER_DAY });
  await operator.call('POST', `/apps/${app.id}/go-live`);
  return keys.live;
}

async function startService(scene: Scene): Promise<Target> {
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
      env: {
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: dataDir,
        OPENAI_BASE_URL: `${scene.upstream}/v1`,
        OPENAI_API_KEY: 'x',
        MODEL: scene.model,
        // Free of charge: a run must not end in an exhausted usage credit.
        MODEL_PRICES: JSON.stringify({ [scene.model]: { input: 0, output: 0 } }),
        LOG_LEVEL: 'warn',
      },
      logFile: join(scene.outDir, 'service.log'),
      readyUrl: `${origin}/readyz`,
    });
    const stop = async (): Promise<void> => {
      await process.stop();
      removeData();
    };
    try {
      const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
      const key = await createApp(consoleOf(origin, token));
      return {
        process,
        port,
        path: '/v1/chat',
        headers: ['Content-Type: application/json', `X-Service-Key: ${key}`, 'X-Service-Device: %DEVICE%'],
        body: `{"turn_id":"%TURN%","message":{"text":"Hello"},"client":${JSON.stringify(CLIENT)}}`,
        mode: 'service',
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    removeData();
    throw error;
  }
}

export const service: Candidate = { name: 'service', start: startService };
