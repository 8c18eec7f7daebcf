/** Draws a component again each second while something on it runs out. */
import { useEffect, useState } from 'preact/hooks';

const SECOND_MS = 1_000;

/** The time by `now`, milliseconds; it moves on while `isRunning`. */
export function useClock(now: () => number, isRunning: boolean): number {
  const [nowMs, setNowMs] = useState(now);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNowMs(now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning, now]);
  return isRunning ? nowMs : now();
}
