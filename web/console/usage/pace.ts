/** Months and money of usage; and when something that is used up will be, at the pace at which it was used so far. Times in milliseconds. */

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

/** `2026-11`, UTC. */
export function monthOf(date: Date): string {
  return date.toISOString().slice(0, 'YYYY-MM'.length);
}

export function monthBeside(month: string, by: 1 | -1): string {
  const [year = 0, ordinal = 1] = month.split('-').map(Number);
  return monthOf(new Date(Date.UTC(year, ordinal - 1 + by, 1)));
}

/** All days of a month: `2026-11-01` and so on. */
export function daysOf(month: string): string[] {
  const [year = 0, ordinal = 1] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, ordinal, 0)).getUTCDate();
  return Array.from({ length: count }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
}

/** Money, on every page: `4.20 USD`, `0.00 USD`; of less than a cent two digits that say something, `0.0019 USD`. */
export function usd(amount: number): string {
  const isPart = amount !== 0 && Math.abs(amount) < 0.01;
  return `${amount.toLocaleString('en', isPart ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;
}

/** Each halves to a number that is as round. */
const TOPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10] as const;

/** The next of 1, 1.2, 1.6, 2 … 10, 12, 16 … that holds `most`: the highest bar fills three quarters of the plot, or more. */
export function roundTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return Number(((TOPS.find((step) => step * power >= most) ?? 10) * power).toPrecision(2));
}
