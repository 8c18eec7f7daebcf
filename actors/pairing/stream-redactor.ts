/** Redacts text deltas of a watched turn (PRIVACY-9). Half a number is none yet, so words with a digit or @ wait for their block. */
import { redactCoarsely } from '../../assistant/privacy/placeholder-table.ts';

/** A longer word is not held back until it ends; what has come of it is hidden. */
const WORD_MAX_CHARS = 256;
const PLACEHOLDER = /(⟦[a-z]+_\d+⟧)/;
const DELTA_OPENS = '{"type":"block.delta"';

function redacted(text: string): string {
  return text
    .split(PLACEHOLDER)
    .map((part, at) => (at % 2 === 1 ? part : redactCoarsely(part)))
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

export class StreamRedactor {
  /** The end of the last delta, until it is known whether its last word continues. */
  #held: Delta | null = null;

  /** The events (JSON) to show for this one. A word that may continue is shown with the next event, so no delta is sent twice. */
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
  return JSON.stringify({ ...delta, text_delta: redacted(text) });
}
