/** A clock that tests move. */
import type { Clock } from '../../../web/client/surroundings.ts';

export class ManualClock implements Clock {
  #nowMs = Date.UTC(2026, 10, 21);
  readonly #timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  #next = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { atMs: this.#nowMs + ms, run });
    return () => this.#timers.delete(id);
  }

  /** Milliseconds until each timer runs, the nearest first. */
  get waitingMs(): readonly number[] {
    return [...this.#timers.values()].map(({ atMs }) => atMs - this.#nowMs).sort((one, other) => one - other);
  }

  /** Moves on, and runs what is due, in its order. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, { atMs }]) => atMs <= untilMs).sort(([, one], [, other]) => one.atMs - other.atMs)[0];
      if (due === undefined) break;
      const [id, { atMs, run }] = due;
      this.#timers.delete(id);
      this.#nowMs = atMs;
      run();
    }
    this.#nowMs = untilMs;
  }
}
