/**
 * Keeps placeholders whole in text that comes in pieces (decisions §9): a model may split `⟦email_1⟧` anywhere, and what has
 * been said cannot be restored any more.
 *
 * It holds back at most an unfinished placeholder, a dozen characters; what cannot become one any more is let go at once.
 */
import { isUnfinished, PLACEHOLDER_OPENS } from './placeholder.ts';

export class PlaceholderGate {
  #held = '';

  /** What can be said now that `delta` has come. Text without `⟦` passes as it is. */
  push(delta: string): string {
    if (this.#held === '' && !delta.includes(PLACEHOLDER_OPENS)) return delta;
    const text = this.#held + delta;
    // A placeholder holds no other: only the last one can be unfinished.
    const opens = text.lastIndexOf(PLACEHOLDER_OPENS);
    if (!isUnfinished(text.slice(opens))) {
      this.#held = '';
      return text;
    }
    this.#held = text.slice(opens);
    return text.slice(0, opens);
  }

  /** What was held back when no more will come; '' mostly. */
  flush(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}
