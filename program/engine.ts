/** What the program asks of V8, the engine it runs on, by options of V8's own. They hold for all threads. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After a pause this long memory is given back. Shorter ones are what lies between two people all day. */
const QUIET_MS = 10 * 60_000;

/** How much of a function runs between two looks at whether to optimise it, in bytes of its bytecode; Node 20 sets 66 KiB. */
const INTERRUPT_BUDGET = 15_000;

/** The first version of V8 that counts calls of a function in place of bytes, and writes a complaint to stderr when it is told a budget. */
const COUNTS_CALLS_FROM = 12;

/** What loading the program left behind is given back before this, as V8 does by itself once a process had little to do for eight seconds. */
export const STARTED_MS = 30_000;

export interface EngineOptions {
  readonly atStart: readonly string[];
  readonly later: readonly string[];
}

/**
 * The options for an engine of this version (`process.versions.v8`), without one that it does not know: it would complain on standard error,
 * where each line is one of the log (RUN-12).
 */
export function engineOptions(v8Version: string): EngineOptions {
  const budget = `--interrupt-budget=${INTERRUPT_BUDGET}`;
  return {
    atStart: Number.parseInt(v8Version, 10) < COUNTS_CALLS_FROM ? [budget] : [],
    later: [`--gc-memory-reducer-start-delay-ms=${QUIET_MS}`],
  };
}

/**
 * Has V8 optimise code soon and keep it (RUN-32, RUN-33). By itself it gives memory back once a process had little to do for eight seconds,
 * and the code that it has optimised goes with it: the turns of the next seconds then take some 2.5 times the CPU. And it waits long with what
 * it optimises, so that a process whose functions are many is slow for its first twelve seconds of work; with a smaller budget it is for six, and
 * slower in the first of them. Called before any work.
 */
export function tuneEngine(): void {
  for (const option of engineOptions(process.versions.v8).atStart) setFlagsFromString(option);
}

/**
 * From `inMs` on what is optimised is kept through pauses, and memory with it (RUN-32). What the start left is freed then, unless somebody would
 * have to wait for that: by itself the engine has not come to it yet where the machine is busy.
 */
export function keepOptimised(inMs: number, isBusy = (): boolean => false): void {
  setTimeout(() => {
    if (!isBusy()) collectGarbage();
    for (const option of engineOptions(process.versions.v8).later) setFlagsFromString(option);
  }, inMs).unref();
}

/** Frees what nothing refers to any more, and leaves optimised code alone, which V8's own way of giving memory back does not. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}
