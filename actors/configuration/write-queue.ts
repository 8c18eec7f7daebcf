/** The queue of each app's configuration writes: one at a time, because each has to see what those before it changed. */

import { setImmediate as breathe } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import type { AppRef } from '../caller.ts';
import type { WriteLease } from '../leases.ts';
import { SerialByKey } from '../serial.ts';

/** What may wait in one app: an agent's 120 requests of a minute at once, and as many of people. A write takes some milliseconds as a rule. */
const WAITING_MAX = 240;

const queues = new SerialByKey({
  max: WAITING_MAX,
  full: () => new Refusal('rate_limited', 'Too much is being written to this app at once. Send the request again.', { retryAfterS: 1 }),
});

/** In this process and, by `lease`, in all others. @throws Refusal rate_limited when too much waits. */
export function inWriteOrder<Value>(appId: string, work: () => Promise<Value>, lease: WriteLease): Promise<Value> {
  return queues.do(appId, () => lease(work));
}

export interface WriteTarget extends AppRef {
  readonly origin: Origin;
}

/** Each result, or the Refusal thrown. The loop runs between items: judging fifty of the largest takes 50 ms. @throws other errors. */
export async function settleEach<Item, Taken>(
  items: readonly Item[],
  take: (item: Item) => Taken | Promise<Taken>,
): Promise<(Taken | Refusal)[]> {
  const outcomes: (Taken | Refusal)[] = [];
  for (const item of items) {
    await breathe();
    try {
      outcomes.push(await take(item));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcomes.push(error);
    }
  }
  return outcomes;
}
