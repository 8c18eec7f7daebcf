/** Pauses between tries: each twice as long as the one before, never at the same moment as all others, and ended early by `skip`; and trying again with them. */
import type { Clock } from '../surroundings.ts';
import { type Failure, failureOf } from './failure.ts';

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
const DOUBLINGS_MAX = 8;

/** Between half and all of the pause after so many failed tries (from 0). `chance` is at least 0 and below 1. */
export function backoffMs(tries: number, chance: number): number {
  const wholeMs = Math.min(FIRST_MS * 2 ** Math.min(tries, DOUBLINGS_MAX), LONGEST_MS);
  return wholeMs * (0.5 + chance / 2);
}

/** A number of at least 0 and below 1, of a random UUID. */
export function chanceOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8), 16) / 2 ** 32;
}

export const LATE = Symbol('late');

/** What `work` comes to; LATE when that takes longer. Rejects as it does, also with what it throws at once. */
export function inTime<Value>(clock: Clock, ms: number, work: () => Value | Promise<Value>): Promise<Value | typeof LATE> {
  return new Promise((resolve, reject) => {
    const stopTimer = clock.after(ms, () => resolve(LATE));
    Promise.resolve().then(work).then(resolve, reject).finally(stopTimer);
  });
}

export class Pause {
  readonly #clock: Clock;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => this.skip());
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  skip(): void {
    const end = this.#end;
    this.#end = undefined;
    end?.();
  }
}

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
