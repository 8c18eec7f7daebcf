/** When a server is warm: the CPU of a unit of its work stands still. The same for every server. */
import { sum } from '../report/table.ts';

/** A window lasts so long, and longer where its last streams end later. */
export const WINDOW_S = 1.5;
/** So many windows, one after the other, and no two of them further apart than this factor. */
const WINDOWS = 3;
const STILL = 1.06;
/** A server that has not come to rest by then is measured as it is, and the report says so. */
export const WARM_UP_MAX_S = 30;

export interface WarmUp {
  readonly seconds: number;
  /** CPU µs a unit of each window. */
  readonly windows_us: readonly number[];
  readonly is_steady: boolean;
}

export function standsStill(windowsUs: readonly number[]): boolean {
  const last = windowsUs.slice(-WINDOWS);
  return last.length === WINDOWS && Math.max(...last) <= STILL * Math.min(...last);
}

/**
 * Loads a server window by window until it is warm.
 * @param window loads it for about `WINDOW_S`; tells CPU µs for a unit of work
 * @param now milliseconds of a clock that goes on
 */
export async function warmUntilStill(
  window: () => Promise<number>,
  { maxS = WARM_UP_MAX_S, now = () => performance.now() } = {},
): Promise<WarmUp> {
  const beganMs = now();
  const windows: number[] = [];
  const seconds = (): number => (now() - beganMs) / 1e3;
  while (windows.length === 0 || (!standsStill(windows) && seconds() < maxS)) windows.push(await window());
  return { seconds: seconds(), windows_us: windows, is_steady: standsStill(windows) };
}

/** What a unit costs once warm: the mean of the windows that stood still. */
export function warmUs({ windows_us: windows }: WarmUp): number {
  const last = windows.slice(-WINDOWS);
  return sum(last) / last.length;
}
