/** Processes of a benchmark: free ports, starting a Node program on one core, waiting until it answers, ending it; folders for their data. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server under test has this core to itself; upstream and load client share the other. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

/** A server that has not answered by then never will; a first start with migrations takes a second or two. */
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;
/** A server without open turns drains at once; later it is killed. */
const STOP_TIMEOUT_MS = 10_000;
const LOG_TAIL_CHARS = 2_000;

interface Started {
  /** Shown in errors. */
  readonly name: string;
  /** Absent: anywhere. */
  readonly core?: number | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** How long it may take until it answers; undefined: as long as any start that is not measured itself. */
  readonly readyTimeoutMs?: number | undefined;
}

/** A program of ours. */
interface Program extends Started {
  readonly file: string;
  readonly args: readonly string[];
  /** Answers 200 once the program is ready. */
  readonly readyUrl: string;
}

/** Anything else that can be started. */
export interface Command extends Started {
  readonly command: readonly string[];
  isReady(): Promise<boolean>;
}

export interface Running {
  readonly pid: number;
  /** Throws, with the end of its log, when the program has ended. */
  check(): void;
  /** SIGTERM lets it drain; when that takes too long it is killed. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A TCP port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Whether this machine can give the server a core of its own. */
export const canPin: boolean = spawnSync('taskset', ['-c', `${SERVER_CORE},${CLIENT_CORE}`, 'true']).status === 0;

/** The command line that runs `command` on one core, or anywhere when cores cannot be chosen. */
export function pinned(core: number, command: readonly string[]): readonly [string, ...string[]] {
  const [first = '', ...rest] = command;
  return canPin ? ['taskset', '-c', String(core), first, ...rest] : [first, ...rest];
}

/** Keeps this process, which is a load client for some questions, off the server's core. Does nothing where cores cannot be chosen. */
export function pinSelf(core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

/** Starts a compiled program on its core and waits until it answers. Throws, with the end of its log, when it does not. */
export function start(program: Program): Promise<Running> {
  const command = [process.execPath, program.file, ...program.args];
  return launch({ ...program, command, isReady: () => answers(program.readyUrl) });
}

/** As `start`, for any command. */
export async function launch({
  name,
  core,
  command,
  env: own,
  logFile,
  readyTimeoutMs = READY_TIMEOUT_MS,
  isReady,
}: Command): Promise<Running> {
  const log = openSync(logFile, 'w');
  const [file = '', ...args] = core === undefined ? command : pinned(core, command);
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_ENV: 'production', ...own };
  const child = spawn(file, args, { env, stdio: ['ignore', log, log] });
  running.add(child);
  let notStarted: Error | undefined;
  child.once('error', (error) => {
    notStarted = error;
  });
  child.once('exit', () => running.delete(child));
  const check = (): void => {
    if (notStarted !== undefined) throw new Error(`${name} did not start: ${notStarted.message}`);
    if (child.exitCode === null && child.signalCode === null) return;
    const tail = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARS);
    throw new Error(`${name} ended (${child.exitCode ?? child.signalCode}):\n${tail}`);
  };
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} did not start: is ${file} installed?`);
  const giveUpAtMs = performance.now() + readyTimeoutMs;
  while (!(await isReady())) {
    check();
    if (performance.now() > giveUpAtMs) {
      child.kill('SIGKILL');
      throw new Error(`${name} did not answer; see ${logFile}`);
    }
    await pause(READY_POLL_MS);
  }
  return { pid, check, stop: (signal) => stop(child, signal) };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(late);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A server that was killed may still have a write under way. */
const RETRIES = 10;

/** A new folder in `TMPDIR`. It goes with this process at the latest: a run that is interrupted must not leave the gigabytes of its questions. `remove` may be called twice. */
export function newDataDir(name: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(path, { recursive: true, force: true, maxRetries: RETRIES });
  };
  process.on('exit', remove);
  return { path, remove };
}
