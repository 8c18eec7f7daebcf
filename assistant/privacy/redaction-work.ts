/**
 * How much searching one value of a request may cause (PRIVACY-6): it is linear, yet thousands of numbers make it long on the event loop.
 * Later text is hidden more coarsely.
 */
import { OTHER_DIGIT } from './plain-form.ts';

/** Times rules: 25 ms at the worst, beside 50 ms for reading 250 KB. Over a thousand telephone numbers: only hostile texts have more. */
const WORK_MAX_CHARS = 60_000;
/** What a rule costs on any text, in characters. */
const TEXT_CHARS = 4;
/** Reading an address both ways from its @, or the word behind a bracket, in characters. */
const MARK_CHARS = 8;
/** Numbers that are looked up in a country's numbering plan, at some 40 µs each. */
const LOOKUPS_MAX = 250;

const LOOKED_AT = new RegExp(`[\\d@＠⟦]+|${OTHER_DIGIT}`, 'g');
const MARK = /[@＠⟦]/g;

/** The characters of `text` that rules stop at: digits, and more for marks. */
function charsToLookAt(text: string): number {
  let chars = (text.match(MARK)?.length ?? 0) * MARK_CHARS;
  for (const [run] of text.matchAll(LOOKED_AT)) chars += run.length;
  return chars;
}

export class RedactionWork {
  #charsLeft = WORK_MAX_CHARS;
  #lookupsLeft = LOOKUPS_MAX;

  /** Another one with what this one has left: who reads a text again finds the same in it. */
  copy(): RedactionWork {
    const copy = new RedactionWork();
    copy.#charsLeft = this.#charsLeft;
    copy.#lookupsLeft = this.#lookupsLeft;
    return copy;
  }

  /** Takes what `rules` cost on `text`; false, and nothing is taken, when that much is not left. */
  take(text: string, rules: number): boolean {
    const cost = (charsToLookAt(text) + TEXT_CHARS) * rules;
    if (cost > this.#charsLeft) return false;
    this.#charsLeft -= cost;
    return true;
  }

  /** Takes the looking up of one number; false when none is left. */
  takeLookup(): boolean {
    if (this.#lookupsLeft === 0) return false;
    this.#lookupsLeft--;
    return true;
  }
}
