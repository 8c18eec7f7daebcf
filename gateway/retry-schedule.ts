/**
 * The schedule of retries after an overload: each second is given to a limited number of refused clients. Otherwise all would come back
 * at once and be refused again. Owns how many were sent to each second.
 */
import { randomInt } from 'node:crypto';

/** As many retries in a second as were begun in one lately, and half as many again: some clients will not come back. */
const OF_BEGUN = 1.5;
/** The least, so that some clients come back when nothing is known yet or nothing was begun. */
export const EACH_SECOND_MIN = 100;
/** A refusal takes a fifth of a millisecond, so this many a second take a good part of a core. */
const EACH_SECOND_MAX = 1_000;
/** The longest wait: others may have given up by then. Clients beyond the schedule are spread over its later half. */
export const RETRY_AFTER_MAX_S = 15;
const MS_PER_S = 1_000;

export class RetrySchedule {
  readonly #nowMs: () => number;
  /** How many were sent to each second since the start of the clock. */
  readonly #sent = new Map<number, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whole seconds until the next free place, 1 to RETRY_AFTER_MAX_S; takes the place. `begun`: how many were begun in a second lately. */
  next(begun = 0): number {
    const eachSecond = Math.min(EACH_SECOND_MAX, Math.max(EACH_SECOND_MIN, Math.round(OF_BEGUN * begun)));
    const nowS = Math.floor(this.#nowMs() / MS_PER_S);
    for (const second of this.#sent.keys()) if (second <= nowS) this.#sent.delete(second);
    for (let afterS = 1; afterS <= RETRY_AFTER_MAX_S; afterS++) {
      const sent = this.#sent.get(nowS + afterS) ?? 0;
      if (sent >= eachSecond) continue;
      this.#sent.set(nowS + afterS, sent + 1);
      return afterS;
    }
    return randomInt(Math.ceil(RETRY_AFTER_MAX_S / 2), RETRY_AFTER_MAX_S + 1);
  }
}
