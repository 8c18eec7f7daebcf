/** Failures by code, what strangers wrote made fit to be shown, and how numbers are written for people. */
/** A way in which a request or a turn fails, as the service, the network or this program names it. */

/** Milliseconds with as many digits as matter. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2);
}

export function formatTime(ms: number | undefined): string {
  return ms === undefined || ms >= 10_000 ? formatMs(ms) : `${formatMs(ms)} ms`;
}

/** Never rounded up to an aim that was missed. */
export function formatPercent(share: number | undefined): string {
  return share === undefined ? '–' : `${Math.floor(share * 10_000 + 1e-6) / 100} %`;
}

export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

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
