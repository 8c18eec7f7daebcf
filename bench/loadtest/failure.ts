/** A way in which a request or a turn fails, as the service, the network or this program names it. */
export interface Failure {
  /** `429 rate_limited`, `internal (in the stream)`, `ECONNREFUSED`, or `cut` where a connection ended within an answer. */
  readonly code: string;
  readonly message: string;
}

/** Control and format characters: a terminal obeys them, and text turns its direction at some. */
const UNSHOWN = /[\p{Cc}\p{Cf}]/gu;

/** What a stranger wrote, as text of at most so many characters that no terminal takes for a command. */
export function shown(text: string, maxChars: number): string {
  return text.slice(0, maxChars).replaceAll(UNSHOWN, '·');
}
