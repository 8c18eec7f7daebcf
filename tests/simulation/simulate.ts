/**
 * `npm run simulate -- --seeds 1000 [--from N] [--processes N]`, and `--seed N` for one of them: runs the simulated world under each seed. One that
 * fails is run again with less and less of what happened in it, and what is left is written down beside the traces of its machines.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { powerEnv } from '../support/power-cuts.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    processes: { type: 'string', default: '2' },
    /** With a fault of the program's own, for the test of what finds them. */
    planted: { type: 'boolean', default: false },
  },
});
const from = Number(values.seed ?? values.from);
const seeds = values.seed === undefined ? Number(values.seeds) : 1;
const processes = Math.min(seeds, Number(values.processes));
const MEMORY = '/dev/shm';

/** One process for a share of the seeds, with the library that is its disk. Its exit code. */
function work(first: number, every: number): Promise<number> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'simulation-'));
  const args = ['--enable-source-maps', fileURLToPath(new URL('./worker.js', import.meta.url)), first, every, from + seeds].map(String);
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, ...powerEnv(folder, join(folder, 'd')), ...(values.planted ? { PLANTED: '1' } : {}) },
  });
  return new Promise((resolve) =>
    child.once('exit', (code) => {
      rmSync(folder, { recursive: true, force: true });
      resolve(code ?? 1);
    }),
  );
}

const codes = await Promise.all(Array.from({ length: processes }, (_, n) => work(from + n, processes)));
process.exitCode = Math.max(...codes);
