/**
 * Compare-and-set: work that reads rows, decides, and writes only if they are still as they were read. When somebody else wrote in
 * between, it is done again on what the rows say now.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface Retries {
  /** More attempts than this are no race. */
  readonly max: number;
  /** How long to give way before attempt 2, 3, …, at random so that two do not meet again; absent: not at all. */
  pauseMs?(attempt: number): number;
  /** Thrown when none of them came through. */
  exhausted(): Error;
}

/** What an attempt answers whose rows were changed by somebody else. */
export const OVERTAKEN = Symbol('overtaken');

/** The first answer that is not OVERTAKEN. @throws what `attempt` throws, and `exhausted`. */
export async function retried<Value>(
  { max, pauseMs, exhausted }: Retries,
  attempt: () => Promise<Value | typeof OVERTAKEN>,
): Promise<Value> {
  for (let tried = 1; tried <= max; tried++) {
    if (tried > 1 && pauseMs !== undefined) await pause(pauseMs(tried));
    const value = await attempt();
    if (value !== OVERTAKEN) return value;
  }
  throw exhausted();
}
