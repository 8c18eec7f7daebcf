/** Chance with a seed: what a scenario picks can be picked again. SEED=<number> repeats a run, SEED=random looks further. */
import { randomInt } from 'node:crypto';

const DEFAULT_SEED = 20_261_121;
const SEED_MAX = 2 ** 31;

export interface Dice {
  readonly seed: number;
  /** At least 0 and below `end`, whole. */
  below(end: number): number;
  /** From `from` to `to`, both included, whole. */
  between(from: number, to: number): number;
  /** @throws Error for an empty list. */
  pick<T>(from: readonly T[]): T;
}

/** The seed of this run: of SEED, and the same in every run without one. */
export function seedOfRun(): number {
  const given = process.env.SEED;
  if (given === undefined) return DEFAULT_SEED;
  return given === 'random' ? randomInt(SEED_MAX) : Number(given);
}

/** Each seed is its own row of numbers (mulberry32). */
export function createDice(seed: number = seedOfRun()): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    seed,
    below,
    between: (from, to) => from + below(to - from + 1),
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) throw new Error('nothing to pick from');
      return from[below(from.length)] as T;
    },
  };
}
