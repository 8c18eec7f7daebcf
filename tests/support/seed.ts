/**
 * The seed of property tests: the same in every run, so that a run which failed can be repeated and one that passed was no
 * luck. `SEED=random npm test` looks further; `SEED=<number>` repeats what such a run printed.
 */
import { isMainThread } from 'node:worker_threads';
import fc from 'fast-check';

const DEFAULT_SEED = 20_261_121;

const given = process.env.SEED;
if (given !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: given === undefined ? DEFAULT_SEED : Number(given) });

/**
 * `node --test` reads the results of a file from what its process writes, and in Node 20 `--test-force-exit` ends that process before all of it
 * is written: the last tests of a file would not be reported, and behind half of a long message the whole run would stand still. So writes to
 * the pipe wait until they are taken. A thread that exits is not such a process.
 */
if (isMainThread && process.env.NODE_TEST_CONTEXT?.startsWith('child') === true) {
  (process.stdout as unknown as { _handle?: { setBlocking?(blocks: boolean): void } })._handle?.setBlocking?.(true);
  const exit = process.exit.bind(process);
  const written = (code?: number | string | null) => setImmediate(() => process.stdout.write('', () => exit(code)));
  process.exit = written as unknown as typeof process.exit;
}
