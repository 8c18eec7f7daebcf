/** Owns what a round costs: the price table of known models, its extension by MODEL_PRICES, and the sum (MODEL-21). */
import * as v from 'valibot';

export interface Price {
  readonly input: number;
  readonly output: number;
}

export type PriceTable = Readonly<Record<string, Price>>;

/** No model costs more than this per million tokens; a larger number is a slip of the unit. */
const PRICE_MAX_USD_PER_MILLION = 100_000;

const usdPerMillion = v.pipe(
  v.number('must be a number of US dollars per million tokens'),
  v.finite('must be finite'),
  v.minValue(0, 'must not be negative'),
  v.maxValue(PRICE_MAX_USD_PER_MILLION, `must be at most ${PRICE_MAX_USD_PER_MILLION}`),
);

/** Shape of MODEL_PRICES once parsed: `{ "<model>": { "input": 2.5, "output": 10 } }`, US dollars per million tokens. */
export const pricesSchema = v.pipe(
  v.unknown(),
  // A list would pass as a record without entries.
  v.check((value) => !Array.isArray(value), 'must be an object of model names'),
  v.record(
    v.pipe(v.string(), v.minLength(1, 'a model name must not be empty')),
    v.strictObject({ input: usdPerMillion, output: usdPerMillion }),
  ),
);

/**
 * OpenAI's list prices (openai.com/api/pricing) without discounts, so a sum is never below the bill's. Variants that cost other than the
 * name they extend are listed: an unlisted name takes its longest known prefix.
 */
export const KNOWN_PRICES: PriceTable = Object.freeze({
  offline: { input: 0, output: 0 },
  'gpt-5.1': { input: 1.25, output: 10 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'gpt-5-pro': { input: 15, output: 120 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4 },
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4o-2024-05-13': { input: 5, output: 15 },
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'chatgpt-4o-latest': { input: 5, output: 15 },
  o1: { input: 15, output: 60 },
  'o1-mini': { input: 1.1, output: 4.4 },
  'o1-pro': { input: 150, output: 600 },
  o3: { input: 2, output: 8 },
  'o3-mini': { input: 1.1, output: 4.4 },
  'o3-pro': { input: 20, output: 80 },
  'o4-mini': { input: 1.1, output: 4.4 },
  'gpt-4-turbo': { input: 10, output: 30 },
  'gpt-4-0125': { input: 10, output: 30 },
  'gpt-4-1106': { input: 10, output: 30 },
  'gpt-4': { input: 30, output: 60 },
  'gpt-4-32k': { input: 60, output: 120 },
  'gpt-3.5-turbo': { input: 0.5, output: 1.5 },
});

/** The built-in table with the operator's prices over it; an operator's name replaces the built-in one. */
export function priceTable(overrides: PriceTable = {}): PriceTable {
  return Object.freeze({ ...KNOWN_PRICES, ...overrides });
}

/** A price and whether the table knows the model; an unknown model costs nothing, and the caller may say so. */
export interface FoundPrice extends Price {
  readonly known: boolean;
}

const UNKNOWN: FoundPrice = { input: 0, output: 0, known: false };

/** Under the exact name, else the longest prefix before a `-`, as dated versions are named. Unknown: zero with `known: false`. */
export function findPrice(table: PriceTable, model: string): FoundPrice {
  const price = priceOf(table, model);
  return price === undefined ? UNKNOWN : { ...price, known: true };
}

function priceOf(table: PriceTable, model: string): Price | undefined {
  for (let end = model.length; end > 0; end = model.lastIndexOf('-', end - 1)) {
    const name = model.slice(0, end);
    const price = Object.hasOwn(table, name) ? table[name] : undefined;
    if (price !== undefined) return price;
  }
  return undefined;
}

/** Prices are taken to a millionth of a dollar per million tokens, so that sums are exact integers. */
const PRICE_STEPS = 1_000_000;

/** Cost of `usage` in whole micro-dollars, rounded up. An unknown model costs 0 (see findPrice). Token counts are integers ≥ 0. */
export function costMicroUsd(
  table: PriceTable,
  model: string,
  usage: { readonly inputTokens: number; readonly outputTokens: number },
): number {
  const price = priceOf(table, model) ?? UNKNOWN;
  // Integers all through: 1.1 × 10 in floating point is a little over 11 and would be rounded up to 12.
  const steps =
    BigInt(Math.round(price.input * PRICE_STEPS)) * BigInt(usage.inputTokens) +
    BigInt(Math.round(price.output * PRICE_STEPS)) * BigInt(usage.outputTokens);
  const unit = BigInt(PRICE_STEPS);
  return Number((steps + unit - 1n) / unit);
}
