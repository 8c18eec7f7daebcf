/** The load client (`load.c`) from here: compiling it once per run, and one call of it. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AnswerForm, Target } from '../servers/candidate.ts';
import { CLIENT_CORE, pinned } from '../servers/processes.ts';
import { charsPerStream, type Workload } from '../workloads/workloads.ts';
import { compileC, projectDir } from './compile.ts';

/** A call that takes longer hangs: the slowest peer takes a few minutes for its longest workload. */
const CALL_MAX_MS = 15 * 60_000;

/** The shares of which the load client tells percentiles, in the order of `first_ms` and `whole_ms`. */
export const SHARES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1] as const;

export interface LoadResult {
  readonly streams: number;
  readonly ok: number;
  /** Not whole, or never begun. */
  readonly broken: number;
  /** Answered 503 with Retry-After, which the client obeyed. */
  readonly refused: number;
  readonly stalled: boolean;
  /** Delta events that arrived: fewer than tokens where a server merges them. */
  readonly deltas: number;
  readonly chars: number;
  readonly bytes: number;
  /** From writing the request to reading the first text, at each of `SHARES`. */
  readonly first_ms: readonly number[];
  /** From writing the request to the end of the answer, whole streams only, at each of `SHARES`. */
  readonly whole_ms: readonly number[];
  readonly wall_s: number;
  /** Why the first streams broke, in the load client's words. */
  readonly reasons: readonly string[];
}

/** One of the percentiles that the load client told: `first_ms` or `whole_ms`, and the share. */
export function at(percentiles: readonly number[], share: (typeof SHARES)[number]): number {
  return percentiles[SHARES.indexOf(share)] ?? Number.NaN;
}

const run = promisify(execFile);

export interface LoadClient {
  readonly program: string;
  readonly outDir: string;
}

export function compileLoad(outDir: string): string {
  const program = join(outDir, 'load');
  compileC(join(projectDir(), 'bench/load/load.c'), program);
  return program;
}

function marksOf({ text, end, error }: AnswerForm): Readonly<Record<string, string | undefined>> {
  return {
    'text-after': text.after,
    'text-in': text.in,
    'text-event': text.event,
    'end-in': end?.in,
    'end-event': end?.event,
    'error-in': error?.in,
    'error-event': error?.event,
  };
}

export interface Extent {
  readonly requests: number;
  /** After so long no more streams are begun; those that are open are followed to their ends. */
  readonly seconds?: number;
  /** Nothing for so long and the client gives up. */
  readonly stallSeconds?: number;
}

const STALL_S = 15;

/** Sends turns to a target as the workload asks. What the load client says of broken streams goes to stderr too. */
export async function load(
  program: string,
  outDir: string,
  workload: Workload,
  target: Target,
  { requests, seconds, stallSeconds = STALL_S }: Extent,
): Promise<LoadResult> {
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
    ...marksOf(target.answer),
    streams: workload.streams,
    requests,
    seconds,
    chars: charsPerStream(workload),
    'ramp-ms': workload.rampMs ?? 0,
    'gap-ms': workload.gapMs ?? 0,
    'stall-s': stallSeconds,
  };
  const args = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
  const [command, ...rest] = pinned(CLIENT_CORE, [program, ...args]);
  const { stdout, stderr } = await run(command, rest, { timeout: CALL_MAX_MS });
  process.stderr.write(stderr);
  const result = JSON.parse(stdout) as Omit<LoadResult, 'reasons'>;
  const reasons = stderr.split('\n').flatMap((line) => (line === '' ? [] : [line.replace('load: stream broken: ', '')]));
  // After a stall the client gives up: turns it never began are as lost as those that broke. What was refused was never to be.
  const lost = result.refused + (result.stalled ? requests - result.streams : 0);
  return { ...result, broken: result.broken + lost, reasons };
}
