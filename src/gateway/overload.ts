/**
 * Says no to new work while the process has more than it can do in time (`watch/load-watch.ts` judges that): early, before a body is read
 * where that can be told, and before anything costly. What was begun goes on: streams, their readers, retries of turns that
 * are there, continuations, stops and answers to cards are taken, and so is everything of the console and of setup, for which the turns that are refused leave room.
 */
import { randomInt } from 'node:crypto';
import { Refusal } from '../protocol/errors.ts';
import { readTurn } from '../storage/turns.ts';
import type { Exchange } from './exchange.ts';
import type { AdmittedCaller, Route } from './route.ts';
import type { Services } from './services.ts';

/** An overload lasts a second at least; who was refused comes back spread over a few, or all would come back at once. */
const RETRY_AFTER_MIN_S = 1;
const RETRY_AFTER_MAX_S = 4;
/** Reading and parsing so much takes less than half a millisecond; results of actions that a continuation brings are rarely larger. */
const READ_WHILE_OVERLOADED_MAX_BYTES = 64 * 1024;

function busy(): Refusal {
  const retryAfterS = randomInt(RETRY_AFTER_MIN_S, RETRY_AFTER_MAX_S + 1);
  const message = `The service has more to do than it can in time, and begins nothing new at this moment. Send the same request again in ${retryAfterS} s.`;
  return new Refusal('internal', message, { status: 503, retryAfterS });
}

/** What can be told before the body is read. @throws Refusal 503 */
export function refuseUnread({ newWork }: Route, { header }: Pick<Exchange, 'header'>, { load }: Services): void {
  if (newWork === undefined || load?.overloaded !== true) return;
  if (newWork === true || Number(header('content-length')) > READ_WHILE_OVERLOADED_MAX_BYTES) throw busy();
}

/** By the parsed body. @throws Refusal 503 */
export function refuseNewWork(
  { newWork }: Pick<Route, 'newWork'>,
  body: unknown,
  caller: Exchange['caller'],
  { load, storage }: Pick<Services, 'load' | 'storage'>,
): void {
  if (typeof newWork !== 'function' || load?.overloaded !== true) return;
  const hasTurn = (turnId: string) => {
    const { organisationId, app } = caller as AdmittedCaller;
    const turn = readTurn(storage.organisation(organisationId), app.id, turnId);
    // One that failed would be tried again.
    return turn !== undefined && turn.state !== 'failed';
  };
  if (!newWork(body, hasTurn)) return;
  // Who was told to come again must not find the minute used up by that.
  (caller as AdmittedCaller | null)?.giveBack();
  throw busy();
}
