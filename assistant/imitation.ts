/** Lines in which a model writes a component as text, `[quick_replies] You can reply: …`, in place of calling it: people never see them (MODEL-35). */
import { CATALOG } from '../protocol/catalog/catalog.ts';

/** The longest beginning of a line that decides. */
const HELD_MAX_CHARS = 40;
/** A component's name in brackets, a blank, and words: not `[section]` of a file, nor a link. */
const IMITATION = /^[ \t]*\[([a-z_]+)\] [ \t]*\S/;
/** What may still become one. */
const UNDECIDED = /^[ \t]*(?:`{0,2}|\[(?:[a-z_]*|[a-z_]+\] ?[ \t]*))$/;
const FENCE = /^[ \t]*```/;
/** What was left out is kept so far: an answer that is nothing else is said after all. */
const LEFT_OUT_MAX_CHARS = 2_000;

const isImitation = (line: string) => CATALOG.get(IMITATION.exec(line)?.[1] ?? '')?.offered === true;

/** Takes such lines out of text that comes in pieces. */
export class ImitationFilter {
  #held = '';
  #startsLine = true;
  #isDropping = false;
  #isCode = false;
  #leftOut = '';

  /** What can be said now: all but the beginning of a line that may be one of them. */
  push(delta: string): string {
    // Most deltas are within a line.
    if (!this.#startsLine && !this.#isDropping && !delta.includes('\n')) return delta;
    let said = '';
    let rest = this.#held + delta;
    this.#held = '';
    while (rest !== '') {
      const end = rest.indexOf('\n') + 1;
      const line = end === 0 ? rest : rest.slice(0, end);
      if (this.#startsLine && end === 0 && line.length < HELD_MAX_CHARS && UNDECIDED.test(line)) {
        this.#held = line;
        return said;
      }
      if (this.#startsLine) {
        this.#isDropping = !this.#isCode && isImitation(line);
        if (FENCE.test(line)) this.#isCode = !this.#isCode;
      }
      if (!this.#isDropping) said += line;
      else if (this.#leftOut.length < LEFT_OUT_MAX_CHARS) this.#leftOut += line;
      this.#startsLine = end > 0;
      if (end > 0) this.#isDropping = false;
      rest = rest.slice(line.length);
    }
    return said;
  }

  /** The words of what was left out, without the names of components. */
  get leftOut(): string {
    return this.#leftOut.replaceAll(/^[ \t]*\[[a-z_]+\][ \t]*/gm, '').slice(0, LEFT_OUT_MAX_CHARS);
  }

  /** What was held back when no more will come; what comes after begins a line. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    this.#startsLine = true;
    this.#isDropping = false;
    return rest;
  }
}
