/** The program itself, as users have it: a process of its own with its own data directory, spoken to over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endLitestreams } from './litestream.ts';
import { JUDGED_STALL_MS, judgeLoop } from './stall-judge.ts';
import { atEnd, temporaryDir } from './temporary-dir.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
/** A start includes the demo app, so that its knowledge is indexed; slow machines take seconds, and those with a dozen other tests half a minute. */
const START_TIMEOUT_MS = 90_000;

/** The operator tokens of the directories that tests started on: a directory keeps a digest, and the first banner alone shows the token. */
const minted = new Map<string, string>();

/** Notes the token that a banner shows, and returns that of the directory. */
export function operatorTokenOf(dataDir: string, banner: string): string {
  const shown = /operator +(rd_op_[0-9a-f]+)/.exec(banner)?.[1];
  if (shown !== undefined) minted.set(dataDir, shown);
  return minted.get(dataDir) ?? '';
}

export interface RunningService {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Keys of the demo app, '' with DEMO=off. */
  readonly liveKey: string;
  readonly testKey: string;
  readonly operatorToken: string;
  /** Everything it wrote to stdout and stderr so far. */
  output(): { stdout: string; stderr: string };
  /** Sends the signal and waits until the process is gone; returns its exit code (null after a kill). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  /** Kept by the caller when given, else removed with the test. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another main.js than the one that was compiled beside the tests. */
  readonly entry?: string;
  /** What the program is started through, such as `unshare -m …`; it must exec, so that the pid is the program's. */
  readonly through?: readonly string[];
  /** Why the event loop of this program may work over 400 ms at one stretch; without it the test fails then. */
  readonly mayStall?: string;
}

function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return once(child, 'exit').then(([code]) => code as number | null);
}

/** The environment of a start: nothing of the machine's own configuration leaks in, and no test waits for the warm-up but those of it. */
function environment(dataDir: string, env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: '0',
    DATA_DIR: dataDir,
    WARM_UP: 'off',
    STALL_MS: JUDGED_STALL_MS,
    ...env,
  };
}

/** Starts the program and waits for its banner. @throws Error with what it printed when it does not come up. */
export async function startService(
  t: TestContext,
  { dataDir = temporaryDir(t), env = {}, entry = MAIN, through = [], mayStall }: StartOptions = {},
): Promise<RunningService> {
  const [program = '', ...words] = [...through, process.execPath, entry];
  const child = spawn(program, words, {
    env: environment(dataDir, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const up = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not up after ${START_TIMEOUT_MS} ms: ${stdout}${stderr}`)), START_TIMEOUT_MS);
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      if (!/runtime +http/.test(stdout)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code} before it was up: ${stdout}${stderr}`));
    });
  });
  const found = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? '';
  const address = () => found(/runtime +(http\S+)\/v1/);
  atEnd(t, async () => {
    const running = child.exitCode === null && child.signalCode === null;
    try {
      await judgeLoop({ baseUrl: address(), pid: child.pid as number, running, stderr, mayStall });
    } finally {
      if (running) child.kill('SIGKILL');
      await exited(child);
      // It is detached and outlives a service that was killed.
      if (env.REPLICA_URL !== undefined) endLitestreams(dataDir);
    }
  });
  await up;
  return {
    baseUrl: address(),
    dataDir,
    pid: child.pid as number,
    liveKey: found(/live key +(\S+)/),
    testKey: found(/test key +(\S+)/),
    operatorToken: env.OPERATOR_TOKEN ?? operatorTokenOf(dataDir, stdout),
    output: () => ({ stdout, stderr }),
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited(child);
    },
  };
}

/** Runs the program where it is expected not to come up: its exit code and what it printed. */
export async function startAndFail(
  t: TestContext,
  { dataDir = temporaryDir(t), env = {} }: StartOptions,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: environment(dataDir, env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  atEnd(t, () => child.kill('SIGKILL'));
  return { code: await exited(child), stderr };
}
