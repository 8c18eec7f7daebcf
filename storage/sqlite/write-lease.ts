/** Until when this process may write (CELL-17): asked before and after each commit, as it may have been suspended in between. */

import { StorageError } from './storage-error.ts';

/** A moment by both clocks. The wall clock may be set, and the other one may stand still while a machine is suspended: the later one counts. */
export interface Moment {
  readonly wallMs: number;
  readonly steadyMs: number;
}

const WALL = 0;
const STEADY = 1;

/** The steady clock is the same in all threads, unlike `performance.now()`. */
function currentMoment(): Moment {
  return { wallMs: Date.now(), steadyMs: Number(process.hrtime.bigint() / 1_000_000n) };
}

export class WriteLease {
  readonly buffer: SharedArrayBuffer;
  readonly #until: BigInt64Array;
  readonly now: () => Moment;

  /** With `buffer` it is the lease of another thread. A new one has run out. */
  constructor(buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT), now: () => Moment = currentMoment) {
    this.buffer = buffer;
    this.#until = new BigInt64Array(buffer);
    this.now = now;
  }

  get holds(): boolean {
    const { wallMs, steadyMs } = this.now();
    return wallMs < Atomics.load(this.#until, WALL) && steadyMs < Atomics.load(this.#until, STEADY);
  }

  /** @throws StorageError `fenced` while it does not hold. `outcome`: what became of what was to be written. */
  require(outcome: string): void {
    if (!this.holds) throw new StorageError('fenced', `another host may have taken this cell over; ${outcome}`);
  }

  extend(from: Moment, ms: number): void {
    this.#set(from.wallMs + ms, from.steadyMs + ms);
  }

  end(): void {
    this.#set(0, 0);
  }

  #set(wallMs: number, steadyMs: number): void {
    Atomics.store(this.#until, WALL, BigInt(Math.floor(wallMs)));
    Atomics.store(this.#until, STEADY, BigInt(Math.floor(steadyMs)));
  }
}
