/** Batches whose items succeed or fail one by one, without blocking the event loop. */
import { setImmediate as breathe } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';

/**
 * The result of `take` for each item, in their order, or the Refusal that it threw. The event loop runs between items: judging fifty of the
 * largest takes 50 ms. @throws any other error of `take`.
 */
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
