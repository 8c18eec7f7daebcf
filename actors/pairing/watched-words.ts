/**
 * Words of one turn as a page that watches is shown them while they stream (PRIVACY-9): only what the model wrote of its own is not in
 * placeholder form yet, and nobody can tell of half a number what it is. So each word with a digit or an @ is hidden until its block is
 * ready, which brings all of the text as it is kept.
 */
import { concealCoarsely } from '../../assistant/privacy/coarse.ts';

/** What goes on without a blank for longer is hidden as far as it has come. */
const WORD_MAX_CHARS = 256;
const PLACEHOLDER = /(⟦[a-z]+_\d+⟧)/;
const DELTA_OPENS = '{"type":"block.delta"';

function concealed(text: string): string {
  return text
    .split(PLACEHOLDER)
    .map((part, at) => (at % 2 === 1 ? part : concealCoarsely(part)))
    .join('');
}

function lastBlank(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) if (/\s/.test(text.charAt(at))) return at;
  return -1;
}

interface Delta {
  readonly index: number;
  readonly text_delta: string;
}

export class WatchedWords {
  /** What came last, until it is known whether its last word goes on. */
  #held: Delta | null = null;

  /** The event (JSON) as it is shown. Words that may go on are shown with the next event, so that each delta is told once. */
  shown(event: string): string[] {
    const held = this.#held;
    this.#held = null;
    if (!event.startsWith(DELTA_OPENS)) return [...(held === null ? [] : [said(held, held.text_delta)]), event];
    const delta = JSON.parse(event) as Delta;
    const before = held?.text_delta ?? '';
    const whole = before.length - lastBlank(before) > WORD_MAX_CHARS ? before.length : lastBlank(before) + 1;
    const shown = held === null || whole === 0 ? [] : [said(held, before.slice(0, whole))];
    const text = before.slice(whole) + delta.text_delta;
    if (lastBlank(text) === text.length - 1) return [...shown, said(delta, text)];
    this.#held = { ...delta, text_delta: text };
    return shown;
  }
}

function said(delta: Delta, text: string): string {
  return JSON.stringify({ ...delta, text_delta: concealed(text) });
}
