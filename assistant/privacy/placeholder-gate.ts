/**
 * Keeps placeholders whole in text that comes in pieces (PRIVACY-9): what has been said cannot be restored any more. One within an address
 * leaves as `⟦email⟧`, never restored, because a client fetches a picture's address without anybody's click. Held back: mostly one
 * character, 64 at most.
 */
import { LOOKALIKE, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { AddressScan } from './address-scan.ts';
import { isPlaceholderKind, isUnfinished, placeholderOf } from './placeholder.ts';

/** What an address of mail or a host may go on with. */
const GOES_ON = /^[\w.+-]*/;
/** As long as what stands before an @ may be. */
const GOES_ON_MAX_CHARS = 64;
/** `⟦email_1⟧.evil.example` or `⟦email_1⟧x` would be a host that somebody else may own. */
const HOST_GOES_ON = /^[._-]*[a-z0-9]/i;

/** Whether `after`, which follows a placeholder, makes that a part of an address; undefined: more has to come. */
function becomesAddress(after: string): boolean | undefined {
  const goesOn = GOES_ON.exec(after.slice(0, GOES_ON_MAX_CHARS))?.[0] ?? '';
  if (goesOn.length === GOES_ON_MAX_CHARS || HOST_GOES_ON.test(goesOn)) return true;
  if (goesOn.length === after.length) return undefined;
  // Two values side by side make one address of mail, at neither's host.
  return after.charAt(goesOn.length) === '@' || after.charAt(goesOn.length) === PLACEHOLDER_OPENS;
}

export class PlaceholderGate {
  #held = '';
  #scan = new AddressScan();

  /** What can be said now that `delta` has come. Text without `⟦` passes as it is. */
  push(delta: string): string {
    if (this.#held === '' && !delta.includes(PLACEHOLDER_OPENS)) {
      this.#scan.said(delta);
      return delta;
    }
    return this.#sift(this.#held + delta, false);
  }

  /** What was held back when no more will come, '' mostly; what comes after all begins a text of its own. */
  flush(): string {
    const rest = this.#held === '' ? '' : this.#sift(this.#held, true);
    this.#scan = new AddressScan();
    return rest;
  }

  #sift(text: string, isEnd: boolean): string {
    let said = '';
    let from = 0;
    this.#held = '';
    const say = (part: string) => {
      this.#scan.said(part);
      said += part;
    };
    for (const { 0: placeholder, index } of text.matchAll(LOOKALIKE)) {
      const kind = /^⟦([a-z]+)_/.exec(placeholder)?.[1] ?? '';
      if (!isPlaceholderKind(kind)) continue;
      say(text.slice(from, index));
      from = index;
      const isInside = this.#scan.isInside() || becomesAddress(text.slice(index + placeholder.length));
      if (isInside === undefined && !isEnd) {
        this.#held = text.slice(index);
        return said;
      }
      from += placeholder.length;
      say(isInside === true ? placeholderOf(kind, undefined) : placeholder);
    }
    const opens = isEnd ? -1 : text.lastIndexOf(PLACEHOLDER_OPENS);
    const end = opens >= from && isUnfinished(text.slice(opens)) ? opens : text.length;
    say(text.slice(from, end));
    this.#held = text.slice(end);
    return said;
  }
}

/** `text` with every placeholder that stands within an address made one that is never restored. */
export function hideInAddresses(text: string): string {
  if (!text.includes(PLACEHOLDER_OPENS)) return text;
  const gate = new PlaceholderGate();
  return gate.push(text) + gate.flush();
}
