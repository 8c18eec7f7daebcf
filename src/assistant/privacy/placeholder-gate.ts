/**
 * Keeps placeholders whole in text that comes in pieces (decisions §9): a model may split `⟦email_1⟧` anywhere, and what has
 * been said cannot be restored any more.
 *
 * It holds back at most an unfinished placeholder, a dozen characters; what cannot become one any more is let go at once. A placeholder
 * within a web address leaves it as one that is never restored.
 */
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { AddressWatch, hideInAddresses } from './addresses.ts';
import { isUnfinished } from './placeholder.ts';

export class PlaceholderGate {
  #held = '';
  readonly #watch = new AddressWatch();

  /** What can be said now that `delta` has come. Text without `⟦` passes as it is. */
  push(delta: string): string {
    if (this.#held === '' && !delta.includes(PLACEHOLDER_OPENS)) {
      this.#watch.said(delta);
      return delta;
    }
    const text = this.#held + delta;
    // A placeholder holds no other: only the last one can be unfinished.
    const opens = text.lastIndexOf(PLACEHOLDER_OPENS);
    if (!isUnfinished(text.slice(opens))) {
      this.#held = '';
      return this.#said(text);
    }
    this.#held = text.slice(opens);
    return this.#said(text.slice(0, opens));
  }

  #said(text: string): string {
    const said = hideInAddresses(text, this.#watch);
    this.#watch.said(said);
    return said;
  }

  /** What was held back when no more will come; '' mostly. */
  flush(): string {
    const held = this.#held;
    this.#held = '';
    this.#watch.said(held);
    return held;
  }
}
