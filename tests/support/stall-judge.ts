/**
 * Judges the event loop of programs that tests start: one whose loop worked over 400 ms at one stretch fails the test that ran it.
 * By processor time of the loop's own thread, so that a busy machine fails nothing. A start is not judged: the program watches
 * from when it listens. What a test lets stand still on purpose it says where it starts the program (`mayStall`, with the reason).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** Twice the rule: on shared cores a thread's time may count what other machines took. The bench holds the rule itself. */
export const JUDGED_STALL_MS = '400';
/** What the program itself calls a stall (STALL_MS, unless a test says otherwise). */
const STALLED = '"msg":"the event loop was blocked by its own work"';
/** A program that is asked while it works on something long may answer late; one that is stuck was told already. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Whether the process runs: not stopped, not a zombie. */
function isAwake(pid: number): boolean {
  try {
    return !/^State:\s+[TtZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** What /metrics says of stalls; '' when there were none, or nobody answers. */
async function counted(baseUrl: string, pid: number): Promise<string> {
  if (!isAwake(pid)) return '';
  try {
    const answer = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const text = await answer.text();
    if (!/^assistant_loop_stalls_total\{by="cpu"\} [1-9]/m.test(text)) return '';
    return /^assistant_loop_last_stall_cpu_seconds\{.*$/m.exec(text)?.[0] ?? 'a stall was counted';
  } catch {
    return '';
  }
}

export interface JudgedProgram {
  readonly baseUrl: string;
  readonly pid: number;
  readonly running: boolean;
  readonly stderr: string;
  /** Why this program may stand still; undefined: it may not. */
  readonly mayStall: string | undefined;
}

/** @throws AssertionError that shows what ran, when the loop of the program stood still. To be asked before it is ended. */
export async function judgeLoop({ baseUrl, pid, running, stderr, mayStall }: JudgedProgram): Promise<void> {
  if (mayStall !== undefined) return;
  const lines = stderr.split('\n').filter((line) => line.includes(STALLED));
  const told = lines.length === 0 && running ? await counted(baseUrl, pid) : '';
  assert.ok(
    lines.length === 0 && told === '',
    `the event loop of the program stood still (200 ms at most by the house rule): ${lines.join('\n')}${told}`,
  );
}
