/** What an organisation used in a month, as the interface answers it. */

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

/** `4.20 USD`; of less than a cent as much as says something. */
export function usd(amount: number): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2;
  return `${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits })} USD`;
}
