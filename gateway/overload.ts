/**
 * Refuses new work while the process is overloaded, as `watch/load-watch.ts` and `watch/starts.ts` judge it: before anything costly, and
 * before the body is read if possible. Work that was begun continues: streams, retries of existing turns, continuations, stops and
 * answers to cards are served, and so are the console and setup.
 */
import type { Refusal } from '../protocol/errors.ts';
import { readTurn } from '../storage/conversations/turns.ts';
import { cheapRefusal } from './cheap-refusal.ts';
import type { Exchange } from './http/exchange.ts';
import { RetrySchedule } from './retry-schedule.ts';
import type { AdmittedCaller, Route } from './route.ts';
import type { Services } from './services.ts';

/** Reading and parsing this much takes less than half a millisecond; the action results in a continuation are rarely larger. */
const READ_WHILE_OVERLOADED_MAX_BYTES = 64 * 1024;

/** One for the process, like its load. */
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
