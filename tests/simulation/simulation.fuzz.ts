/** The simulated world under some hundred seeds: no rule breaks, and a seed is one run. `npm run simulate` runs more of them, or one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scaled } from '../support/scale.ts';

const PROGRAM = fileURLToPath(new URL('./simulate.js', import.meta.url));
/** As many as some three minutes take; of a break that is there all the time few are enough. */
const SEEDS = Number(process.env.SEEDS ?? scaled(100_000, 1_000));
/** A seed of people and many faults: killed, suspended and cut-off nodes among them. */
const BUSY_SEED = '40';

async function simulated(...args: readonly string[]): Promise<string> {
  // What fails is on the standard output, and ends the test with it.
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
  return stdout;
}

test('HOUSE-18: the same seed is the same run, step by step', async () => {
  const digest = async () => /digest ([0-9a-f]{64})/.exec(await simulated('--seed', BUSY_SEED))?.[1];
  const first = await digest();
  assert.ok(first !== undefined);
  assert.equal(await digest(), first);
});

test('HOUSE-18: what was planted breaks its rule, and is shrunk to what it needs', async () => {
  const failed = await simulated('--seed', '1', '--planted').then(
    () => '',
    (error: Error) => error.message,
  );
  assert.match(failed, /seed 1 FAILED: committed before spoken/);
  assert.match(failed, /^ {2}committed before spoken/m);
  assert.equal(failed.match(/^ {2}\{"kind"/gm)?.length, 1, 'one question is enough');
  assert.match(failed, /traces: \S+\.json/);
});

test(`HOUSE-18, CHAT-9, STORE-1, CLUSTER-4, ACTION-12: ${SEEDS} seeds break no rule`, async () => {
  assert.match(await simulated('--seeds', String(SEEDS)), / 0 failed/);
});
