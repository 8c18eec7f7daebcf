/** The time, for what counts down. */
import { useEffect, useState } from 'preact/hooks';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Milliseconds since 1970, each second anew. */
export function useNow(): number {
  const [nowMs, tick] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** `14:03` of a quarter of an hour, `23 h 59 min` of a day; `0:00` of what is over. */
export function timeLeft(ms: number): string {
  const left = Math.max(ms, 0);
  if (left >= HOUR_MS) return `${Math.floor(left / HOUR_MS)} h ${Math.floor((left % HOUR_MS) / MINUTE_MS)} min`;
  const seconds = String(Math.floor((left % MINUTE_MS) / SECOND_MS)).padStart(2, '0');
  return `${Math.floor(left / MINUTE_MS)}:${seconds}`;
}
