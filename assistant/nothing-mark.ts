/**
 * The mark with which a model begins an answer that says nothing (MODEL-12): what it means in any language. People never see it,
 * and no row has it.
 */

export const NOTHING_MARK = '[[nothing]]';

/** One sentence for the trusted instructions. */
export const NOTHING_RULE = `When an answer only says that you do not know, cannot help or found nothing, in whatever language, begin it with ${NOTHING_MARK}. People never see that.`;

/** Takes the mark out of words that come in pieces, and knows whether it was there. */
export class NothingGate {
  readonly #onBegun: (saysNothing: boolean) => void;
  #held = '';
  #isOpen = false;
  /** The mark has come, and nothing but blanks since. */
  #isBlank = false;

  /** `onBegun` hears how each answer begins. */
  constructor(onBegun: (saysNothing: boolean) => void) {
    this.#onBegun = onBegun;
  }

  /** What can be said now that `delta` has come: all of it once it is known how the answer begins. */
  push(delta: string): string {
    if (this.#isOpen) return this.#isBlank ? this.#trimmed(delta) : delta;
    this.#held += delta;
    const begun = this.#held.trimStart();
    const mark = begun.slice(0, NOTHING_MARK.length).toLowerCase();
    if (mark.length < NOTHING_MARK.length && NOTHING_MARK.startsWith(mark)) return '';
    const saysNothing = mark === NOTHING_MARK;
    const said = saysNothing ? this.#trimmed(begun.slice(NOTHING_MARK.length)) : this.#held;
    this.#isOpen = true;
    this.#held = '';
    this.#onBegun(saysNothing);
    return said;
  }

  /** Words begin behind the blanks after the mark. */
  #trimmed(text: string): string {
    const said = text.trimStart();
    this.#isBlank = said === '';
    return said;
  }

  /** What was held back when no more will come; what comes after all begins anew. */
  flush(): string {
    const rest = this.#isOpen ? '' : this.#held;
    this.#isOpen = false;
    this.#isBlank = false;
    this.#held = '';
    return rest;
  }
}
