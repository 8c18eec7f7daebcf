/** The mark with which a model begins an answer that answers nothing (MODEL-12). People never see it, and no row has it. */

export const NO_ANSWER_MARK = '[[nothing]]';

/** One sentence for the trusted instructions. */
export const NO_ANSWER_RULE = `When an answer only says that you do not know, cannot help or found nothing, in whatever language, begin it with ${NO_ANSWER_MARK}. People never see that.`;

/** Takes the mark out of text that comes in pieces, and reports whether it was there. */
export class NoAnswerFilter {
  readonly #onBegun: (isNoAnswer: boolean) => void;
  #held = '';
  #isOpen = false;
  #isBlank = false;

  /** `onBegun` is told for each answer, once that is known, whether it begins with the mark. */
  constructor(onBegun: (isNoAnswer: boolean) => void) {
    this.#onBegun = onBegun;
  }

  /** What can be said now that `delta` has come: all of it once it is known how the answer begins. */
  push(delta: string): string {
    if (this.#isOpen) return this.#isBlank ? this.#trimmed(delta) : delta;
    this.#held += delta;
    const begun = this.#held.trimStart();
    const mark = begun.slice(0, NO_ANSWER_MARK.length).toLowerCase();
    if (mark.length < NO_ANSWER_MARK.length && NO_ANSWER_MARK.startsWith(mark)) return '';
    const isNoAnswer = mark === NO_ANSWER_MARK;
    const said = isNoAnswer ? this.#trimmed(begun.slice(NO_ANSWER_MARK.length)) : this.#held;
    this.#isOpen = true;
    this.#held = '';
    this.#onBegun(isNoAnswer);
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
