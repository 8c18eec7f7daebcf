/** Sends a request again that may be repeated without harm (docs/runtime.md, "Retry and re-attach"), a few times and for a short while. */
import type { Clock } from '../surroundings.ts';
import { type Failure, failureOf } from './failure.ts';
import { backoffMs, chanceOf, Pause } from './pause.ts';

const TRIES_MAX = 5;
/** A person waits for the answer: what asks for more patience is told to them. */
const RETRY_AFTER_MAX_MS = 15_000;

export interface Patience {
  readonly clock: Clock;
  readonly mintUuid: () => string;
  /** Nobody waits for it any more: it is not sent again. */
  readonly isOver?: () => boolean;
}

/** Whether `failure` may be over soon, and nothing but sending the same again finds out. */
function mayPass({ retryable, retryAfterMs }: Failure): boolean {
  return retryable && (retryAfterMs ?? 0) <= RETRY_AFTER_MAX_MS;
}

/** What `work` resolves to, at the first try that succeeds. @throws ClientError of the last try */
export async function patiently<Value>(
  { clock, mintUuid, isOver = () => false }: Patience,
  work: () => Promise<Value>,
  isWorth: (failure: Failure) => boolean = mayPass,
): Promise<Value> {
  const pause = new Pause(clock);
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(error);
      if (tries + 1 >= TRIES_MAX || !isWorth(failure)) throw error;
      await pause.wait(failure.retryAfterMs ?? backoffMs(tries, chanceOf(mintUuid())));
      if (isOver()) throw error;
    }
  }
}
