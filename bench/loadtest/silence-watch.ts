/** Ends requests that receive nothing for too long, with one timer for all of them, because thousands of timers would be expensive. */
import type { Exchange } from './connections.ts';
import type { Failure } from './failure.ts';

/** Three ping intervals: a client may give up then (docs/runtime.md). */
export const SILENCE_MAX_MS = 45_000;
const LOOK_EVERY_MS = 1_000;

interface Watched {
  readonly exchange: Exchange;
  readonly fail: (failure: Failure) => void;
}

export class SilenceWatch {
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** Watches an exchange until the function that it returns is called. */
  readonly watch = (exchange: Exchange, fail: (failure: Failure) => void): (() => void) => {
    const watched = { exchange, fail };
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  };

  endAll(failure: Failure): void {
    for (const { exchange, fail } of [...this.#watched]) {
      exchange.cut();
      fail(failure);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const silentBefore = performance.now() - SILENCE_MAX_MS;
    for (const watched of [...this.#watched]) {
      if (watched.exchange.lastByteMs > silentBefore) continue;
      this.#watched.delete(watched);
      watched.exchange.cut();
      watched.fail({ code: 'silent', message: `nothing came for ${SILENCE_MAX_MS / 1_000} s` });
    }
  }
}
