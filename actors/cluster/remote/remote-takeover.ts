/** Taking a turn over whose owner was lost: a few tries, for a while, because another node may be doing the same. */

import { renderEvent } from '../../../protocol/runtime/stream-events.ts';
import type { Position } from '../../frame-source.ts';
import { errorEvent, FAILED_END, INTERRUPTED } from '../../turns/failures.ts';
import type { RemoteSlice } from './remote-frames.ts';

export interface RemoteTimers {
  /** Does `work` once, in `ms`; answers how to call it off. Must not keep the process alive. */
  set(work: () => void, ms: number): () => void;
}

export const REAL_TIMERS: RemoteTimers = {
  set(work, ms) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Between tries, 3.75 s in all: another node that took the turn over instead has ended it by then. */
const PAUSES_MS = [250, 500, 1_000, 2_000];

/**
 * Where to read on; null when `isNeeded` answered false in the meantime, which is asked after every failure and pause.
 * @throws what the last try threw.
 */
export async function takeOverInTime(
  takeOver: () => Promise<Position>,
  isNeeded: () => boolean,
  timers: RemoteTimers,
): Promise<Position | null> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await takeOver();
    } catch {
      if (!isNeeded()) return null;
    }
    await new Promise<void>((resolve) => timers.set(resolve, pauseMs));
    if (!isNeeded()) return null;
  }
  return takeOver();
}

/** What a stream ends with, from `seq` on, when nobody can say how its turn goes on: the client sends the turn again. */
export function brokenOff(seq: number): RemoteSlice {
  const text = renderEvent(seq, errorEvent(INTERRUPTED)) + renderEvent(seq + 1, FAILED_END);
  return { seq, nextSeq: seq + 2, text };
}
