/**
 * Keeps personal data out of web addresses that a model writes: a picture's address is fetched without anybody's click, so a
 * value put back inside of one would be sent to whoever the address belongs to.
 */
import { LOOKALIKE } from '../../protocol/placeholder.ts';
import { isPlaceholderKind, placeholderOf } from './placeholder.ts';

const SCHEME_ENDS = '://';
/** What ends an address in running text, in Markdown and in a list. */
const BOUNDARIES = new Set(Array.from(' \t\n\r"\'<>()[]', (char) => char.charCodeAt(0)));
/** As long as addresses may be: what goes on without a boundary for longer is looked at no further. */
const RUN_MAX_CHARS = 2_048;

/** Where the last run without a boundary begins in `text`; 0 when all of it, as far as anybody looks, is one. */
function runStart(text: string): number {
  const from = Math.max(0, text.length - RUN_MAX_CHARS);
  for (let at = text.length - 1; at >= from; at--) if (BOUNDARIES.has(text.charCodeAt(at))) return at + 1;
  return 0;
}

/** Knows whether what was said so far, in whatever pieces, ends within a web address. Keeps two characters of it. */
export class AddressWatch {
  #isInside = false;
  #tail = '';

  /** Whether `text`, said next, ends within an address. */
  endsInside(text: string): boolean {
    const start = runStart(text);
    if (text.includes(SCHEME_ENDS, start)) return true;
    return start === 0 && (this.#isInside || (this.#tail + text.slice(0, 2)).includes(SCHEME_ENDS));
  }

  said(text: string): void {
    this.#isInside = this.endsInside(text);
    this.#tail = text.length > 1 ? text.slice(-2) : (this.#tail + text).slice(-2);
  }
}

/** `text` with every placeholder that stands within an address made one that is never restored; `watch` knows what was said before it. */
export function hideInAddresses(text: string, watch = new AddressWatch()): string {
  return text.replace(LOOKALIKE, (placeholder, at: number) => {
    const kind = /^⟦([a-z]+)_/.exec(placeholder)?.[1] ?? '';
    return isPlaceholderKind(kind) && watch.endsInside(text.slice(0, at)) ? placeholderOf(kind, undefined) : placeholder;
  });
}
