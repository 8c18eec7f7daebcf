/** Prices, times and numbers as the person's language writes them. What cannot be read is shown as it came. */
import type { BlockSurroundings } from '../block-view.ts';

const DAY_MS = 86_400_000;

export function money({ amount, currency }: { readonly amount: string; readonly currency: string }, locale: string): string {
  try {
    return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(Number(amount));
  } catch {
    return `${amount} ${currency}`;
  }
}

export function number(value: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(value);
}

export function dated(at: string, locale: string, options: Intl.DateTimeFormatOptions): string {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return at;
  try {
    return new Intl.DateTimeFormat(locale, options).format(ms);
  } catch {
    return at;
  }
}

function dayOf(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
}

/** `today`, `tomorrow`, `yesterday`, else the day: `Tue, 24 Nov`. */
export function dayWords(at: string, { locale, now }: BlockSurroundings): string {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return at;
  const days = dayOf(ms) - dayOf(now());
  if (Math.abs(days) <= 1) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day');
  return dated(at, locale, { weekday: 'short', day: 'numeric', month: 'short' });
}

export const clockTime = (at: string, locale: string, timeZone?: string) =>
  dated(at, locale, { hour: 'numeric', minute: '2-digit', ...(timeZone === undefined ? {} : { timeZone }) });

/** `24 Nov, 10:30`. */
export const momentWords = (at: string, locale: string) =>
  dated(at, locale, { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });

export function leftWords(ms: number, locale: string): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  return minutes < 24 * 60
    ? `${unit(Math.floor(minutes / 60), 'hour')} ${unit(minutes % 60, 'minute')}`
    : unit(Math.floor(minutes / 1440), 'day');
}
