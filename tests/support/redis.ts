/** A real Redis of a test's own: Debian's redis-server on a free port, nothing on disk, killed, paused and emptied at will. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { atEnd, temporaryDir } from './temporary-dir.ts';

/** A start takes 20 ms; machines that run several tests at once take longer. */
const START_TIMEOUT_MS = 10_000;
/** Includes a download. */
const INSTALL_TIMEOUT_MS = 120_000;

export interface RedisOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  /** Address to listen on; loopback by default. */
  readonly host?: string;
  /** A configuration in place of the usual settings, which the server may write to. */
  readonly file?: string;
  /** Further settings. */
  readonly settings?: readonly string[];
}

export interface TestRedis {
  /** `redis://host:port` */
  readonly url: string;
  readonly port: number;
  /** The process that runs now; another one after `restart`. */
  readonly pid: number;
  /** SIGKILL, and waits until it is gone: everything it held is lost, and its port refuses. */
  kill(): Promise<void>;
  /** A fresh, empty server on the same port; kills the running one if there is one. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** Loses every key; connections and subscriptions stay. */
  flush(): Promise<void>;
}

const isInstalled = () => spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

function install(): void {
  if (process.getuid?.() !== 0) return;
  const options = { stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS } as const;
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], options);
}

let missing: string | false | undefined;

/**
 * Why tests that need Redis are to be skipped; false when it is there. Installs it once when it is missing and this is root on a
 * machine with apt. With REQUIRE_REDIS set it is always false, so that the tests run and fail.
 */
export function redisMissing(): string | false {
  if (missing === undefined) {
    if (!isInstalled()) install();
    missing = isInstalled() || process.env.REQUIRE_REDIS ? false : 'redis-server is not installed: apt-get install redis-server';
  }
  return missing;
}

/** Sends one command inline and returns the first line of the reply. */
function command(host: string, port: number, words: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(`${words}\r\n`));
    socket.setTimeout(1_000, () => socket.destroy(new Error(`no answer to ${words}`)));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().trim());
    });
    socket.once('end', () => reject(new Error(`closed at ${words}`)));
  });
}

/** @throws AssertionError with what it printed when it does not answer PING in time. */
async function spawnServer(dir: string, host: string, port: number, { file, settings = [] }: RedisOptions): Promise<ChildProcess> {
  const usual = ['--save', '', '--appendonly', 'no', '--protected-mode', 'no', '--enable-debug-command', 'local'];
  const flags = ['--port', String(port), '--bind', host, '--dir', dir, ...(file === undefined ? usual : []), ...settings];
  const child = spawn('redis-server', [...(file === undefined ? [] : [file]), ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  child.once('error', (error) => {
    output += error.message;
  });
  const endMs = performance.now() + START_TIMEOUT_MS;
  while ((await command(host, port, 'PING').catch(() => '')) !== '+PONG') {
    const up = child.pid !== undefined && child.exitCode === null && performance.now() < endMs;
    if (!up) child.kill('SIGKILL');
    assert.ok(up, `redis-server did not come up on port ${port}: ${output}`);
    await pause(10);
  }
  return child;
}

/** Kills what runs and was started here when the test's process ends before the test does. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a server that ends with the test. @throws AssertionError when it cannot be had, see `redisMissing`. */
export async function startRedis(t: TestContext, options: RedisOptions = {}): Promise<TestRedis> {
  const { port: wanted = 0, host = '127.0.0.1' } = options;
  const dir = temporaryDir(t);
  const port = wanted === 0 ? await freePort(host) : wanted;
  const start = async () => {
    const started = await spawnServer(dir, host, port, options);
    running.add(started);
    return started;
  };
  let child = await start();
  const kill = async () => {
    running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  atEnd(t, kill);
  return {
    url: `redis://${host}:${port}`,
    port,
    get pid() {
      return child.pid as number;
    },
    kill,
    async restart() {
      await kill();
      child = await start();
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async flush() {
      assert.equal(await command(host, port, 'FLUSHALL'), '+OK');
    },
  };
}
