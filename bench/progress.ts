/** Says on the terminal what is done at the moment, and how long the rest of the whole run will take. */

/** How far a run is, in seconds. */
interface Course {
  /** What the parts that are over were expected to take, and what they took. */
  readonly expected: number;
  readonly took: number;
  /** The part that runs: what it was expected to take, and for how long it has run. */
  readonly partExpected: number;
  readonly partTook: number;
  readonly ahead: number;
}

/** The expectations weigh as much as so many seconds of measured time: one short part must not turn the whole estimate. */
const EXPECTATION_WEIGHT_S = 60;

/** How long the rest takes, when this machine goes on as it did with the parts that are over. */
export function secondsLeft({ expected, took, partExpected, partTook, ahead }: Course): number {
  const pace = (EXPECTATION_WEIGHT_S + took) / (EXPECTATION_WEIGHT_S + expected);
  return Math.max(0, partExpected * pace - partTook) + ahead * pace;
}

export function shownTime(seconds: number): string {
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.max(1, Math.ceil(seconds / 10)) * 10} s`;
}

function total(seconds: readonly number[]): number {
  return seconds.reduce((all, each) => all + each, 0);
}

/** The course of one run: its parts are workloads and questions, which come in the order in which they were told. */
export class Progress {
  readonly #expected: readonly number[];
  readonly #beganMs = performance.now();
  #partBeganMs = this.#beganMs;
  /** The part that runs; before the first one, none does. */
  #at = -1;

  /** @param expected about how many seconds each part takes on an otherwise idle machine */
  constructor(expected: readonly number[]) {
    this.#expected = expected;
  }

  begin(): void {
    this.#at++;
    this.#partBeganMs = performance.now();
  }

  step(what: string): void {
    const now = performance.now();
    const left = secondsLeft({
      expected: total(this.#expected.slice(0, this.#at)),
      took: (this.#partBeganMs - this.#beganMs) / 1e3,
      partExpected: this.#expected[this.#at] ?? 0,
      partTook: (now - this.#partBeganMs) / 1e3,
      ahead: total(this.#expected.slice(this.#at + 1)),
    });
    process.stderr.write(`${what}, about ${shownTime(left)} left of all\n`);
  }
}
