/** Compare-and-set: reads rows, decides, and writes only if they have not changed since; else the work is done again on the new rows. */
import { setTimeout as pause } from 'node:timers/promises';

export interface Retries {
  /** More attempts than this are no race. */
  readonly max: number;
  /** How long to wait before attempt 2, 3, …, random so that two do not collide again; absent or 0: not at all. */
  pauseMs?(attempt: number): number;
  exhausted(): Error;
}

/** The answer of an attempt whose rows were changed in between. */
export const OVERTAKEN = Symbol('overtaken');

/** The first answer that is not OVERTAKEN. @throws what `attempt` throws, and `exhausted`. */
export async function retried<Value>(
  { max, pauseMs, exhausted }: Retries,
  attempt: () => Promise<Value | typeof OVERTAKEN>,
): Promise<Value> {
  for (let tried = 1; tried <= max; tried++) {
    const waitMs = tried > 1 ? (pauseMs?.(tried) ?? 0) : 0;
    if (waitMs > 0) await pause(waitMs);
    const value = await attempt();
    if (value !== OVERTAKEN) return value;
  }
  throw exhausted();
}
