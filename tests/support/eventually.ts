/** The one wait of the tests for something that tells nobody when it becomes true: another process, a row, a socket of the system. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Far more than anything takes that comes at all, also on a slow and busy machine: how fast it comes is measured, not tested. */
const TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_MS = 25;

/** Asks at once and then again and again until the answer is true. @throws AssertionError with `what()`, asked only then, when it is not within `timeoutMs`. */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  timeoutMs: number = TIMEOUT_MS,
  what: () => string = () => String(check),
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (let pauseMs = 1; !(await check()); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (performance.now() >= endMs) assert.fail(`not within ${timeoutMs} ms: ${what()}`);
    await pause(pauseMs);
  }
}
