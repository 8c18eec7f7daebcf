/**
 * Owns the missing numbers of a turn, and decides which of them are lost events. A missing number may be a ping, because replays leave
 * pings out (STREAM-3). So missing numbers of a replay are lost events only where they are more than the pings that were due, or where
 * another fault is evidence of a loss. The first connection carries every event, also pings.
 */
import { PING_INTERVAL_MS } from '../../protocol/limits.ts';

/** Bounds the memory that a stream of faults can take. */
const GAPS_MAX = 100;

export interface Gap {
  /** The first and the last number that are missing. */
  readonly from: number;
  readonly to: number;
  /** Not on the first connection, so that pings may be missing. */
  readonly mayBePings: boolean;
}

export class Gaps {
  #gaps: readonly Gap[] = [];

  add(gap: Gap): void {
    if (this.#gaps.length < GAPS_MAX) this.#gaps = [...this.#gaps, gap];
  }

  /** Whether numbers after this one are missing. */
  hasAfter(seq: number): boolean {
    return this.#gaps.some(({ from }) => from > seq);
  }

  /** Removes a late number from its gap. False when it is in none. */
  fill(seq: number): boolean {
    const gap = this.#gaps.find(({ from, to }) => from <= seq && seq <= to);
    if (gap === undefined) return false;
    const parts = [
      { ...gap, to: seq - 1 },
      { ...gap, from: seq + 1 },
    ];
    const left = [...this.#gaps.filter((each) => each !== gap), ...parts.filter(({ from, to }) => from <= to)];
    // A stream that fills every other number of a gap would split it without end.
    if (left.length <= GAPS_MAX) this.#gaps = left;
    return true;
  }

  /**
   * The gaps that are lost events. `isSuspected`: another fault is evidence of a loss. `hasFailed`: the turn failed, and what it had not
   * stored is in no replay (STREAM-10). `lastedMs`: how long the turn has lasted.
   */
  lost(isSuspected: boolean, hasFailed: boolean, lastedMs: number): readonly Gap[] {
    if (isSuspected) return this.#gaps;
    const missing = this.#gaps.reduce((sum, { from, to, mayBePings }) => sum + (mayBePings ? to - from + 1 : 0), 0);
    const pings = 1 + Math.floor(lastedMs / PING_INTERVAL_MS);
    return hasFailed || missing <= pings ? this.#gaps.filter(({ mayBePings }) => !mayBePings) : this.#gaps;
  }
}
