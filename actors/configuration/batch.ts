/** Batches of items, each taken by itself: one that is refused does not fail the others, and judging them holds up nobody else. */
import { setImmediate as breathe } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';

/**
 * What `take` makes of each item, in their order, or what it refused the item with. Each has a turn of the event loop: judging fifty
 * of the worst takes 50 ms. @throws what `take` throws, but for a Refusal.
 */
export async function takeEach<Item, Taken>(
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
