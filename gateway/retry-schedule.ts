/**
 * When those who were refused are told to come again: each second is given to so many of them only, or all would come back at once and
 * be refused once more. It owns how many were sent to which second.
 */
import { randomInt } from 'node:crypto';

/** As many come in a second as were begun in one lately, and half of that more: some will not come. */
const OF_BEGUN = 1.5;
/** Before anything is known, and where nothing moves: somebody has to come for that to be seen. */
export const EACH_SECOND_MIN = 100;
/** To refuse one takes a fifth of a millisecond: so many a second are a good part of a core. */
const EACH_SECOND_MAX = 1_000;
/** Nobody is sent away for longer: others may have given up by then. Who comes beyond that is spread over the later half. */
export const RETRY_AFTER_MAX_S = 15;
const MS_PER_S = 1_000;

export class RetrySchedule {
  readonly #nowMs: () => number;
  /** By second since the start of the clock: how many come then. */
  readonly #sent = new Map<number, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whole seconds from now, from 1 to RETRY_AFTER_MAX_S, and counts on its coming then. `begun`: how many were begun in a second lately. */
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
