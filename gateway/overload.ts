/**
 * Says no to new work while the process has more than it can do in time (`watch/load-watch.ts` and `watch/starts.ts` judge that): early, before a body is read
 * where that can be told, and before anything costly. What was begun goes on: streams, their readers, retries of turns that
 * are there, continuations, stops and answers to cards are taken, and so is everything of the console and of setup, for which the turns that are refused leave room.
 */
import { Refusal } from '../protocol/errors.ts';
import { readTurn } from '../storage/conversations/turns.ts';
import type { Exchange } from './http/exchange.ts';
import { RetrySchedule } from './retry-schedule.ts';
import type { AdmittedCaller, Route } from './route.ts';
import type { Services } from './services.ts';

/** Reading and parsing so much takes less than half a millisecond; results of actions that a continuation brings are rarely larger. */
const READ_WHILE_OVERLOADED_MAX_BYTES = 64 * 1024;

/** Of the process, as its load is. */
const retrySchedule = new RetrySchedule();

function busy(starts: Services['starts']): Refusal {
  const retryAfterS = retrySchedule.next(starts?.stats().perSecond);
  const message = `The service has more to do than it can in time, and begins nothing new at this moment. Send the same request again in ${retryAfterS} s.`;
  const { stackTraceLimit } = Error;
  // Nobody reads where it was thrown, and to find that out is a good part of what a refusal costs.
  Error.stackTraceLimit = 0;
  const refusal = new Refusal('internal', message, { status: 503, retryAfterS });
  Error.stackTraceLimit = stackTraceLimit;
  return refusal;
}

/** What can be told before the body is read. @throws Refusal 503 */
export function refuseUnread({ newWork }: Route, { header }: Pick<Exchange, 'header'>, { load, starts }: Services): void {
  if (newWork === undefined || (load?.overloaded !== true && starts?.admits() !== false)) return;
  const length = header('content-length');
  // A body that comes in chunks does not say how long it is.
  if (newWork === true || length === '' || Number(length) > READ_WHILE_OVERLOADED_MAX_BYTES) throw busy(starts);
}

/** By the parsed body: true when the request begins something, and so has to wait in line for that. @throws Refusal 503 */
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
    // One that failed would be tried again.
    return turn !== undefined && turn.state !== 'failed';
  };
  if (!newWork(body, hasTurn)) return false;
  // Who was told to come again must not find the minute used up by that.
  caller.giveBack();
  throw busy(starts);
}
