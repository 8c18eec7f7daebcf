/**
 * Refuses new work while the process is overloaded, before anything costly. Work that was begun continues: streams, retries, continuations,
 * stops and cards are served, and so are console and setup.
 */

import { randomInt } from 'node:crypto';
import type { Refusal } from '../protocol/errors.ts';
import { readTurn } from '../storage/conversations/turns.ts';
import type { Exchange } from './http/exchange.ts';
import { cheapRefusal } from './rate-limit.ts';
import type { AdmittedCaller, Route } from './route.ts';
import type { Services } from './services.ts';

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

/** Reading and parsing this much takes less than half a millisecond; the action results in a continuation are rarely larger. */
const READ_WHILE_OVERLOADED_MAX_BYTES = 64 * 1024;

const retrySchedule = new RetrySchedule();

function busy(starts: Services['starts']): Refusal {
  const retryAfterS = retrySchedule.next(starts?.stats().perSecond);
  const message = `The service has more to do than it can in time, and begins nothing new at this moment. Send the same request again in ${retryAfterS} s.`;
  return cheapRefusal('internal', message, { status: 503, retryAfterS });
}

/** Refuses what is new work whatever its body says. @throws Refusal 503 */
export function refuseUnread({ newWork }: Route, { header }: Pick<Exchange, 'header'>, { load, starts }: Services): void {
  if (newWork === undefined || (load?.overloaded !== true && starts?.admits() !== false)) return;
  const length = header('content-length');
  // A body that comes in chunks does not say how long it is.
  if (newWork === true || length === '' || Number(length) > READ_WHILE_OVERLOADED_MAX_BYTES) throw busy(starts);
}

/** Whether the parsed body begins new work, which waits in the queue of new turns. @throws Refusal 503 */
export function refuseNewWork(
  { newWork }: Pick<Route, 'newWork'>,
  body: unknown,
  caller: AdmittedCaller,
  { load, starts, storage }: Pick<Services, 'load' | 'starts' | 'storage'>,
): boolean {
  if (typeof newWork !== 'function' || !newWork(body, () => false)) return false;
  if (load?.overloaded !== true && starts?.admits(caller.organisationId) !== false) return true;
  const hasTurn = (turnId: string) => {
    const turn = readTurn(storage.organisation(caller.organisationId), caller.app.id, turnId);
    // A failed turn would run again.
    return turn !== undefined && turn.state !== 'failed';
  };
  if (!newWork(body, hasTurn)) return false;
  // A refused request must not use up the client's minute.
  caller.giveBack();
  throw busy(starts);
}
