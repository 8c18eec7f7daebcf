/**
 * What every fuzzer shares: cases by number, each with dice of its own, so that one that fails can be repeated alone
 * (`SEED=<seed> CASE=<number> npm run fuzz`); how long it goes on; and how a failure is told.
 */
import { inspect } from 'node:util';
import { threadClock } from '../../watch/thread-time.ts';
import { createDice, type Dice, seedOfRun } from '../support/seeded.ts';

/** House rule for the event loop. */
export const STALL_MAX_MS = 200;
/** The most of a failing case that is printed. */
const SHOWN_MAX_CHARS = 20_000;

export const SEED = seedOfRun();
const ONLY = process.env.CASE === undefined ? undefined : Number(process.env.CASE);
const isThorough = process.env.THOROUGH === '1';

/** The dice of a case: apart for each number, and the same whatever ran before. */
export function diceOf(number: number): Dice {
  return createDice((SEED ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0);
}

export interface Extent {
  /** Cases of the long form. */
  readonly full: number;
  /** How long the short form takes, which has as many cases as fit. */
  readonly briefMs: number;
}

/** Numbers of the cases to run. */
export function* caseNumbers({ full, briefMs }: Extent): Generator<number> {
  if (ONLY !== undefined) {
    yield ONLY;
    return;
  }
  const endMs = performance.now() + briefMs;
  for (let number = 0; number < full; number++) {
    // Looked at now and then: the clock costs as much as a small case.
    if (!isThorough && number % 16 === 0 && performance.now() > endMs) return;
    yield number;
  }
}

function shown(value: unknown): string {
  const text = Buffer.isBuffer(value) || value instanceof Uint8Array ? `base64 ${Buffer.from(value).toString('base64')}` : asJson(value);
  return text.length > SHOWN_MAX_CHARS ? `${text.slice(0, SHOWN_MAX_CHARS)}… (${text.length} characters)` : text;
}

/** Halves of surrogate pairs and `-0` show in JSON or in inspect; both are asked when JSON fails. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? inspect(value);
  } catch {
    return inspect(value, { depth: 12 });
  }
}

/** What went wrong with which case, and how to see it again. */
export class FuzzFailure extends Error {
  constructor(number: number, what: string, input: unknown, options?: ErrorOptions) {
    super(`${what}\nto repeat it: SEED=${SEED} CASE=${number} npm run fuzz\nthe case in full: ${shown(input)}`, options);
    this.name = 'FuzzFailure';
  }
}

const clock = threadClock();

/**
 * Runs what is synchronous. A run that takes over 200 ms by the clock is run again twice: it is a stall when its thread worked that long
 * each time, so that neither a busy machine nor the collecting of garbage is taken for one.
 * @returns what took too long, in ms of CPU; undefined when nothing did.
 */
export function stallOf(run: () => void): number | undefined {
  const begunMs = performance.now();
  run();
  if (performance.now() - begunMs <= STALL_MAX_MS) return undefined;
  let leastMs = Infinity;
  for (let again = 0; again < 2; again++) {
    const before = clock().ranMs;
    run();
    leastMs = Math.min(leastMs, clock().ranMs - before);
  }
  return leastMs > STALL_MAX_MS ? leastMs : undefined;
}
