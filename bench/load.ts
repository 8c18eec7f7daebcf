/** The load client (`load.c`) from here: compiling it once per run, and one call of it. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Target } from './candidate.ts';
import { CLIENT_CORE, pinned } from './processes.ts';
import { charsPerStream, type Workload } from './workloads.ts';

/** What one call of the load client saw; times in milliseconds unless named otherwise. */
export interface LoadResult {
  /** Streams begun. */
  readonly streams: number;
  readonly ok: number;
  /** Not whole, or never begun. */
  readonly broken: number;
  /** Answered 503 with Retry-After, which the client obeyed. */
  readonly refused: number;
  /** Delta events that arrived: fewer than tokens where a server merges them. */
  readonly deltas: number;
  readonly chars: number;
  readonly bytes: number;
  /** From writing the request to reading the first text. */
  readonly ttfb_p50_ms: number;
  readonly ttfb_p99_ms: number;
  readonly ttfb_max_ms: number;
  /** From writing the request to the end of the answer, whole streams only. */
  readonly whole_p50_ms: number;
  readonly whole_p99_ms: number;
  readonly wall_s: number;
}

const run = promisify(execFile);

/** The folder that holds package.json, wherever the compiled files were put below it. */
export function projectDir(): string {
  let dir = import.meta.dirname;
  while (!existsSync(join(dir, 'package.json'))) {
    if (dir === dirname(dir)) throw new Error('package.json not found above the compiled benchmark');
    dir = dirname(dir);
  }
  return dir;
}

/** Compiles the load client into `outDir` and returns its path. Throws when there is no C compiler or it refuses. */
export function compileLoad(outDir: string): string {
  const sourceFile = join(projectDir(), 'bench/load.c');
  const program = join(outDir, 'load');
  const compiler = ['gcc', 'cc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (compiler === undefined) throw new Error('No C compiler found (gcc, cc or clang): the load client cannot be built.');
  const { status, stderr } = spawnSync(compiler, ['-O2', '-o', program, sourceFile], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${compiler} could not build the load client:\n${stderr}`);
  return program;
}

/** Sends `requests` turns to a target as the workload asks. What the load client says of broken streams goes to stderr. */
export async function load(program: string, outDir: string, workload: Workload, target: Target, requests: number): Promise<LoadResult> {
  // Two may be asked at a time, each by a load client of its own.
  const headersFile = join(outDir, `${target.name}-headers.txt`);
  const bodyFile = join(outDir, `${target.name}-body.json`);
  writeFileSync(headersFile, `${target.headers.join('\n')}\n`);
  writeFileSync(bodyFile, target.body);
  const options = {
    port: target.port,
    path: target.path,
    headers: headersFile,
    body: bodyFile,
    mode: target.mode,
    streams: workload.streams,
    requests,
    chars: charsPerStream(workload),
    'ramp-ms': workload.rampMs,
    'gap-ms': workload.gapMs,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const [command, ...rest] = pinned(CLIENT_CORE, [program, ...args]);
  const { stdout, stderr } = await run(command, rest);
  process.stderr.write(stderr);
  const result = JSON.parse(stdout) as LoadResult;
  // After a stall the client gives up: turns it never began are as lost as those that broke. What was refused was never to be.
  return { ...result, broken: result.broken + result.refused + requests - result.streams };
}
