/**
 * Lines in which a model writes a component as text, `[quick_replies] You can reply: …`, in place of calling it: people never see them. Of a name
 * that is a word of people, as in `[form] Fill in the form`, only the mark is left out (MODEL-35).
 */
import { CATALOG } from '../protocol/catalog/catalog.ts';

/** The longest beginning of a line that decides. */
const HELD_MAX_CHARS = 40;
/** A component's name in brackets, a blank, and words: not `[section]` of a file, nor a link. */
const IMITATION = /^ {0,3}\[([a-z_]+)\] [ \t]*\S/;
/** What may still become one. */
const UNDECIDED = /^[ \t]*(?:`{0,2}|~{0,2}|\[(?:[a-z_]*|[a-z_]+\] ?[ \t]*))$/;
/** The mark of a line that stays; what goes on in lower case needs its word: `[contact] your bank`. */
const MARK = /\[([a-z]+)\] [ \t]*(?=(\p{Ll})?)/u;
/** What may open or close code: fences of CommonMark. */
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const OPENS = /^[ \t]*(?:`{3,}[^`\n]*|~{3}[^\n]*)\n?$/;
const CLOSES = /^[ \t]*(?:`{3,}|~{3,})[ \t]*\n?$/;
/** A line that may be a fence is kept so far. */
const FENCE_MAX_CHARS = 200;
/** What was left out is kept so far: an answer that is nothing else is said after all. */
const LEFT_OUT_MAX_CHARS = 2_000;

/** The component that a line imitates; '' for any other line. */
function imitatedBy(line: string): string {
  const name = IMITATION.exec(line)?.[1] ?? '';
  return CATALOG.get(name)?.offered === true ? name : '';
}

/** Takes such lines out of text that comes in pieces. */
export class ImitationFilter {
  #held = '';
  #startsLine = true;
  #isDropping = false;
  /** The fence that code began with; '' outside. */
  #code = '';
  /** The line so far that may be a fence; '' for any other. */
  #fence = '';
  #leftOut = '';

  /** What can be said now: all but the beginning of a line that may be one of them. */
  push(delta: string): string {
    // Most deltas are within a line.
    if (!this.#startsLine && !this.#isDropping && this.#fence === '' && !delta.includes('\n')) return delta;
    let said = '';
    let rest = this.#held + delta;
    this.#held = '';
    while (rest !== '') {
      const end = rest.indexOf('\n') + 1;
      let line = end === 0 ? rest : rest.slice(0, end);
      rest = rest.slice(line.length);
      if (this.#startsLine && end === 0 && line.length < HELD_MAX_CHARS && UNDECIDED.test(line)) {
        this.#held = line;
        return said;
      }
      if (this.#startsLine) {
        const name = this.#code === '' ? imitatedBy(line) : '';
        this.#isDropping = name.includes('_');
        if (name !== '' && !this.#isDropping)
          line = line.replace(MARK, (_, word: string, next?: string) => (next === undefined ? '' : `${word} `));
        this.#fence = FENCE.test(line) ? line : '';
      } else if (this.#fence !== '') this.#fence = (this.#fence + line).slice(0, FENCE_MAX_CHARS);
      if (!this.#isDropping) said += line;
      else if (this.#leftOut.length < LEFT_OUT_MAX_CHARS) this.#leftOut += line;
      this.#startsLine = end > 0;
      if (end > 0) this.#endLine();
    }
    return said;
  }

  #endLine(): void {
    this.#isDropping = false;
    const run = FENCE.exec(this.#fence)?.[1] ?? '';
    if (this.#code === '') this.#code = OPENS.test(this.#fence) ? run : '';
    else if (run.startsWith(this.#code) && CLOSES.test(this.#fence)) this.#code = '';
    this.#fence = '';
  }

  /** The words of what was left out, without the names of components. */
  get leftOut(): string {
    return this.#leftOut.replaceAll(/^[ \t]*\[[a-z_]+\][ \t]*/gm, '').slice(0, LEFT_OUT_MAX_CHARS);
  }

  /** What was held back when no more will come; what comes after is another text. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    this.#startsLine = true;
    this.#endLine();
    this.#code = '';
    return rest;
  }
}
