/** Seeds one after the other, and what is done with one that fails. */
import { keepFailedRun } from '../support/failed-run.ts';
import { dataDirOf } from './disk.ts';
import type { Op } from './ops.ts';
import { type Outcome, simulate } from './run.ts';

/** The rule that broke, without what differs between runs. */
const ruleOf = ({ broken }: Outcome) => broken[0]?.split(':')[0];

/** Runs it again without parts of what happened, larger ones first, as long as the same rule breaks. */
async function shrunk(outcome: Outcome): Promise<Outcome> {
  let least = outcome;
  for (let size = Math.ceil(outcome.ops.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = 0; at < least.ops.length; ) {
      const ops: readonly Op[] = [...least.ops.slice(0, at), ...least.ops.slice(at + size)];
      const again = await simulate(outcome.seed, ops);
      if (ruleOf(again) === ruleOf(outcome)) least = again;
      else at += size;
    }
  }
  return least;
}

/** Returns the exit code: 1 when one failed. */
export async function runSeeds(first: number, every: number, end: number): Promise<number> {
  let failed = 0;
  let steps = 0;
  let count = 0;
  for (let seed = first; seed < end; seed += every) {
    const outcome = await simulate(seed);
    count += 1;
    steps += outcome.steps;
    if (end - first === 1) process.stdout.write(`seed ${seed}: ${outcome.steps} steps, digest ${outcome.digest}\n`);
    if (outcome.broken.length === 0) continue;
    failed += 1;
    process.stdout.write(`seed ${seed} FAILED: ${outcome.broken.slice(0, 3).join('\n  ')}\n`);
    const least = await shrunk(outcome);
    // Once more, so that its files are there.
    await simulate(seed, least.ops);
    const files = ['a', 'b'].flatMap((cell) => keepFailedRun(dataDirOf(cell)));
    process.stdout.write(
      `${least.ops.map((op) => `  ${JSON.stringify(op)}\n`).join('')}  ${least.broken[0]}\n  traces: ${files.join(' ')}\n`,
    );
  }
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${count} seeds, ${failed} failed; ${steps} steps; ${((user + system) / 1e6).toFixed(1)} s CPU\n`);
  return failed > 0 ? 1 : 0;
}
