/** When something that is used up will be, at the pace at which it was used so far. Times in milliseconds. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A shorter time tells nothing of a pace. */
const MEASURED_MIN_MS = 15 * MINUTE_MS;
/** Days that the pace of an organisation's spend is taken from: each day of the week once. */
const SPEND_DAYS = 7;

interface Measured {
  readonly used: number;
  readonly left: number;
  readonly sinceMs: number;
  readonly nowMs: number;
  /** It comes anew then. */
  readonly untilMs: number;
}

/** When nothing will be left; null where it lasts until it comes anew, is used up already, or the pace is not known yet. */
export function usedUpAtMs({ used, left, sinceMs, nowMs, untilMs }: Measured): number | null {
  const measuredMs = nowMs - sinceMs;
  if (used <= 0 || left <= 0 || measuredMs < MEASURED_MIN_MS) return null;
  const atMs = nowMs + (left / used) * measuredMs;
  return atMs < untilMs ? atMs : null;
}

/** What was spent in the last seven days that the month has, today among them, and since when that is. */
export function latestSpend(days: readonly { readonly day: string; readonly spent_usd: number }[], nowMs: number) {
  const now = new Date(nowMs);
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const sinceMs = Math.max(monthMs, todayMs - (SPEND_DAYS - 1) * DAY_MS);
  const usd = days.filter(({ day }) => Date.parse(day) >= sinceMs).reduce((sum, day) => sum + day.spent_usd, 0);
  return { usd, sinceMs };
}

export function todayOf(nowMs: number): { readonly sinceMs: number; readonly untilMs: number } {
  const sinceMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { sinceMs, untilMs: sinceMs + DAY_MS };
}
