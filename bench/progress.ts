/** Says on the terminal what is done at the moment, and how long the rest will take, by what the steps so far took. */

/** Before so many steps nobody can tell. */
const STEPS_TO_TELL = 3;

/** How long the steps that are left take, when each takes what those that are done took on average; undefined: too early to tell. */
export function timeLeftMs(done: number, all: number, elapsedMs: number): number | undefined {
  return done < STEPS_TO_TELL ? undefined : (elapsedMs / done) * Math.max(0, all - done);
}

/** `4 min`, `50 s`. */
export function shownTime(ms: number): string {
  return ms >= 90_000 ? `${Math.round(ms / 60_000)} min` : `${Math.ceil(ms / 10_000) * 10} s`;
}

export class Progress {
  readonly #all: number;
  readonly #beganMs = performance.now();
  #done = -1;

  /** @param all steps that will be told of */
  constructor(all: number) {
    this.#all = all;
  }

  /** A step begins: the one before is done. */
  step(what: string): void {
    this.#done++;
    const left = timeLeftMs(this.#done, this.#all, performance.now() - this.#beganMs);
    process.stderr.write(`${what}${left === undefined ? '' : `, ${shownTime(left)} left`}\n`);
  }
}
