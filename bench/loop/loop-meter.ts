/**
 * How long one request keeps a program's event loop, from outside: processor time of its main thread, and the stretches that its own
 * stall watch logs. Linux only.
 */
import { readFileSync } from 'node:fs';
import { pause } from '../servers/processes.ts';

/** The watch's own bound while measuring: shorter stretches are not told apart. */
export const TOLD_FROM_MS = 10;
/** A stretch is logged a little after the answer. */
const LOGGED_WITHIN_MS = 60;

export interface Measured {
  readonly name: string;
  readonly status: number;
  readonly ms: number;
  /** All processor time of the main thread from the request to its answer: the longest stretch is no longer. */
  readonly cpuMs: number;
  /** The longest stretch, in processor time; 0: none over 10 ms. */
  readonly longestMs: number;
  /** What took longest of it. */
  readonly ran: string;
}

interface StallLine {
  readonly msg?: string;
  readonly cpu_ms?: number;
  readonly ran?: readonly { readonly what: string; readonly ms: number }[];
}

function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function linesOf(logFile: string, from: number): StallLine[] {
  return readFileSync(logFile)
    .subarray(from)
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as StallLine];
      } catch {
        return [];
      }
    });
}

/** Makes the request `send` and says what it cost the loop of the program `pid`, which logs to `logFile` with STALL_MS of 10. */
export async function measure(pid: number, logFile: string, name: string, send: () => Promise<Response>): Promise<Measured> {
  const from = readFileSync(logFile).length;
  const startedMs = performance.now();
  const before = mainThreadMs(pid);
  const answer = await send();
  await answer.arrayBuffer();
  const ms = performance.now() - startedMs;
  await pause(LOGGED_WITHIN_MS);
  const cpuMs = mainThreadMs(pid) - before;
  const stalls = linesOf(logFile, from).filter(({ msg }) => msg?.startsWith('the event loop') === true);
  const longest = stalls.reduce<StallLine>((one, other) => ((other.cpu_ms ?? 0) > (one.cpu_ms ?? 0) ? other : one), {});
  const ran = longest.ran?.map((section) => `${section.what} ${section.ms}`).join(' · ') ?? '';
  return { name, status: answer.status, ms, cpuMs, longestMs: longest.cpu_ms ?? 0, ran };
}

/** A table for people. */
export function shown(measured: readonly Measured[]): string {
  const rows = measured.map(({ name, status, ms, cpuMs, longestMs, ran }) =>
    [name, status, Math.round(ms), Math.round(cpuMs), longestMs, ran.slice(0, 120)].join(' | '),
  );
  return ['request | status | ms | main thread CPU ms | longest stretch CPU ms | what', '---|---|---|---|---|---', ...rows].join('\n');
}
