/** Money is kept in whole millionths of a dollar, so that sums of many small charges stay exact. */

const MICRO_USD_PER_USD = 1_000_000;

/** Dollars as they travel → millionths as they are kept, rounded to the nearest. */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}

/** Millionths as they are kept → dollars as they travel. */
export function toUsd(microUsd: number): number {
  return microUsd / MICRO_USD_PER_USD;
}
