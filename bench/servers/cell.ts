/** A cell on this machine: a Redis of its own and several nodes with one data directory, pinned to cores, for those who measure nodes. */
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { withModel } from '../model/model.ts';
import { CLIENT_CORE, freePort, launch, SERVER_CORE } from './processes.ts';
import { createLiveApp, type LiveApp, modelEnv, type Server, startProgram, withDataDir } from './service.ts';

/** A Redis that takes longer to say PONG is not ready. */
const PING_TIMEOUT_MS = 1_000;

export type Redis = Awaited<ReturnType<typeof startRedis>>;

export type Cell = Awaited<ReturnType<typeof startCell>>;

interface CellPlan {
  readonly outDir: string;
  readonly name: string;
  readonly cores: readonly number[];
  readonly env: Readonly<Record<string, string>>;
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const settle = (isReady: boolean): void => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setTimeout(PING_TIMEOUT_MS, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('end', () => settle(false));
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG')));
  });
}

/**
 * `redis-server` on a free port, on the core of the load client, without anything on disk; its log goes to `outDir`, its folder is `dir`.
 * @throws when it is not installed
 */
export async function startRedis(outDir: string, dir: string, name: string) {
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'];
  const process = await launch({
    name: 'redis-server',
    core: CLIENT_CORE,
    command: ['redis-server', ...settings],
    env: {},
    logFile: join(outDir, `${name}-redis.log`),
    isReady: () => answersPing(port),
  });
  return { process, url: `redis://127.0.0.1:${port}` };
}

export function startCell({ outDir, name, cores, env }: CellPlan) {
  return withDataDir(async (dataDir, remove) => {
    const redis = await startRedis(outDir, dataDir, name);
    const nodes: Server[] = [];
    const stop = async (): Promise<void> => {
      for (const node of nodes) await node.stop();
      await redis.process.stop();
      remove();
    };
    try {
      // One after the other: the first one makes the files.
      for (const [at, core] of cores.entries()) {
        const letter = String.fromCharCode('a'.charCodeAt(0) + at);
        const own = { ...env, REDIS_URL: redis.url, NODE_ID: letter };
        nodes.push(await startProgram({ name: `${name}-${letter}`, core, dataDir, outDir, env: own }));
      }
      const [first] = nodes;
      if (first === undefined) throw new Error('a cell without nodes');
      return { redis, nodes, operator: first.operator, dataDir, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  });
}

/** Two nodes, each on a core of its own, so that neither has to leave its core first, with a fake model and a live app, for as long as `work` needs them. */
export function withTwoNodes<T>(outDir: string, name: string, model: string, work: (cell: Cell, app: LiveApp) => Promise<T>): Promise<T> {
  return withModel(outDir, async ({ origin: upstream }) => {
    const cell = await startCell({ outDir, name, cores: [SERVER_CORE, CLIENT_CORE], env: modelEnv({ model, upstream }) });
    try {
      return await work(cell, await createLiveApp(cell.operator));
    } finally {
      await cell.stop();
    }
  });
}
