/** `npm start` itself: whoever stops npm stops the service, its workers too. Signals go to npm alone, as a supervisor or a container sends them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lockDataDir } from '../../storage/sqlite/lock.ts';
import { eventually } from '../support/eventually.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** npm, the look at what changed, and a start, beside other tests. */
const SOON_MS = 60_000;

interface Npm {
  readonly port: number;
  readonly dataDir: string;
  stderr(): string;
  /** To npm, and to nobody else. */
  signal(signal: NodeJS.Signals): void;
  /** Its exit code. */
  ended(): Promise<number | null>;
}

async function npmStart(t: TestContext, env: Readonly<Record<string, string>>): Promise<Npm> {
  const dataDir = temporaryDir(t);
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DATA_DIR: dataDir, DEMO: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what this test leaves behind is ended with it.
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const npm = child.pid as number;
  t.after(() => {
    try {
      process.kill(-npm, 'SIGKILL');
    } catch {
      // All of it is gone, as it should be.
    }
  });
  const workers = Number(env.WORKERS ?? 1);
  await eventually(
    () => /runtime +http/.test(stdout) && (workers === 1 || stderr.includes('all workers were started')),
    SOON_MS,
    () => stdout + stderr,
  );
  return {
    port: Number(/runtime +http:\/\/127\.0\.0\.1:(\d+)/.exec(stdout)?.[1]),
    dataDir,
    stderr: () => stderr,
    signal: (signal) => void child.kill(signal),
    async ended() {
      // Of npm itself: with it gone, nobody waits for what it started.
      await eventually(() => child.exitCode !== null || child.signalCode !== null, SOON_MS);
      return child.exitCode;
    },
  };
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ host: '127.0.0.1', port, exclusive: true });
  const [outcome] = await Promise.race([once(probe, 'listening').then(() => ['free']), once(probe, 'error')]);
  if (outcome !== 'free') return false;
  probe.close();
  await once(probe, 'close');
  return true;
}

function lockIsFree(dataDir: string): boolean {
  try {
    lockDataDir(dataDir, 'alone').release();
    return true;
  } catch {
    return false;
  }
}

describe('npm start', { concurrency: 2 }, () => {
  for (const [signal, workers] of [
    ['SIGTERM', 1],
    ['SIGINT', 1],
    ['SIGTERM', 2],
    ['SIGINT', 2],
  ] as const) {
    const skip = workers === 1 ? false : redisMissing();
    test(`RUN-7: ${signal} to npm drains the service (WORKERS=${workers}): port and lock are free when npm has ended`, {
      skip,
    }, async (t) => {
      const several = async () => ({ WORKERS: String(workers), REDIS_URL: (await startRedis(t)).url });
      const started = await npmStart(t, workers === 1 ? {} : await several());
      assert.equal(await isFree(started.port), false);
      assert.equal(lockIsFree(started.dataDir), false);
      assert.doesNotMatch(started.stderr(), /Compiling/, 'nothing changed since the tests were compiled');
      started.signal(signal);
      assert.equal(await started.ended(), 0, started.stderr());
      assert.equal(await isFree(started.port), true, 'nobody listens any more');
      assert.equal(lockIsFree(started.dataDir), true, 'nobody holds the data directory');
      assert.match(started.stderr(), /"msg":"stopped"/);
    });
  }
});
